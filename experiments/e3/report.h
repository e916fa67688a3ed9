#pragma once

#include <string>
#include <vector>

#include "study.h"

namespace ration::e3 {

// traces.csv, tables.md, and accuracy, loss and step sizes by iteration as SVG.
void write_report(const std::string& folder, const std::vector<Trace>& traces);

}  // namespace ration::e3
