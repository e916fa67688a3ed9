#pragma once

#include <optional>
#include <span>

namespace ration {

// How far predicted numbers are from what they should be. Exact, not private. Of at least one row.

double root_mean_square_error(std::span<const double> predictions, std::span<const double> labels);
double mean_absolute_error(std::span<const double> predictions, std::span<const double> labels);

// R^2 = 1 - (squared error) / (squared error of the labels' own mean): 1 at best, 0 for knowing nothing but
// that mean, and negative for worse. Nothing if all labels are equal.
std::optional<double> r_squared(std::span<const double> predictions, std::span<const double> labels);

}  // namespace ration
