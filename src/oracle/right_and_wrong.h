#pragma once

#include <array>
#include <span>

namespace ration {

// How many predictions equal their label, and how many do not. Exact: not private.
std::array<double, 2> count_right_and_wrong(std::span<const double> predictions,
                                            std::span<const double> labels);

}  // namespace ration
