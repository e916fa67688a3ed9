#pragma once

#include <span>
#include <string>
#include <vector>

#include "privacy/step_plan.h"

namespace ration {

// Reads a schedule in either of two forms; blank lines and what follows a # are skipped.
//   - one noise multiplier per line, or "noise count", or "noise x count";
//   - a table: the line "step,noise_multiplier", then "1,20.5", "2,20.1" and so on, every step in order.
// Throws InputError naming file, line, value and rule.
std::vector<NoiseRun> read_noise_file(const std::string& path);

// The same, one entry per step. At most 1e8 steps.
std::vector<double> read_noise_per_step(const std::string& path);

// The table form; read back, every number is the same.
std::string noise_file_text(std::span<const double> noise);

}  // namespace ration
