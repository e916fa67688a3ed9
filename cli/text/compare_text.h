#pragma once

#include <string>
#include <vector>

#include "compare/results.h"

namespace ration::cli {

// The tables of what was measured on test rows, for a terminal, with the warning above them and what was
// written below.
std::string to_text(const compare::Results& results, const std::string& folder,
                    const std::vector<std::string>& plots);

}  // namespace ration::cli
