#pragma once

#include <string>
#include <vector>

#include "study.h"

namespace ration::e2 {

// Everything that the cells say, as files of a folder: losses.csv, search.csv, influence.csv, summary.json,
// tables.md and the figures as SVG. Each is written whole.
void write_report(const std::string& folder, const std::vector<Cell>& cells);

}  // namespace ration::e2
