#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "support/child_process.h"

namespace ration::testing {

// Runs the built `ration` with a line of arguments, split at blanks (no quoting).
Finished run_ration(const std::string& line, const std::string& folder = "");

// Runs it with --json and expects success, a clean stderr, and one JSON object on stdout.
nlohmann::json ration_json(const std::string& line, const std::string& folder = "");

}  // namespace ration::testing
