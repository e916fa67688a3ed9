#pragma once

#include <string>
#include <vector>

#include "flags/cli11.h"

namespace ration::cli {

// Looks at the words before they are parsed and throws InputError for a command or flag that does not exist,
// a flag given twice, one without its value, or a stray word: in our words, on one line, with what was
// probably meant.
void check_usage(const CLI::App& app, const std::vector<std::string>& words);

}  // namespace ration::cli
