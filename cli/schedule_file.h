#pragma once

#include <string>
#include <vector>

#include "plan_flags.h"

namespace ration::cli {

// Reads one noise multiplier per line, or "noise count", or "noise x count"; blank lines and what follows a #
// are skipped. Throws InputError naming file, line, value and rule.
std::vector<NoiseRun> read_schedule_file(const std::string& path);

}  // namespace ration::cli
