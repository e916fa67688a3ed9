#pragma once

#include <string>

#include "manual/describe.h"

namespace ration::cli {

// Scripts that complete commands, flags, the values of flags, and file names. They are made from the
// command line's own description and do not run the program.
std::string bash_completion(const Command& ration);
std::string zsh_completion(const Command& ration);
std::string fish_completion(const Command& ration);

}  // namespace ration::cli
