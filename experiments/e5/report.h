#pragma once

#include <string>

namespace ration::e5 {

// From the CSV files that the stages left in the folder: results.json, tables.md and the pictures. Stages
// that did not run are left out.
void write_report(const std::string& folder);

}  // namespace ration::e5
