#pragma once

#include <string>
#include <vector>

#include "study.h"

namespace ration::e3 {

// Of an earlier study in this folder; none if there was none.
std::vector<Trace> read_traces(const std::string& folder);
bool same_run(const Trace& a, const Trace& b);

// traces.csv, tables.md, and accuracy, loss and step sizes by iteration as SVG.
void write_report(const std::string& folder, const std::vector<Trace>& traces);

}  // namespace ration::e3
