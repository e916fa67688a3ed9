#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace ration {

// How the noise changes over a run, without its size: step t has noise s * shape[t], and whoever plans the run
// finds the s at which the accountant lands on the budget. Every entry is > 0.
//
// "uniform": the same noise in every step.
// Throws InputError listing the names, and unless steps >= 1.
std::vector<double> noise_shape(std::string_view name, std::int64_t steps);

}  // namespace ration
