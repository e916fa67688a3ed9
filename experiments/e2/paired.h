#pragma once

#include <span>

namespace ration::e2 {

// How much smaller or larger one mean is than another, both over the same seeds: mean(a - b) / mean(b), with
// a 95 % confidence interval from the spread of a_i - r b_i over the pairs (the delta method; Student's t).
struct RelativeDifference {
  double value = 0;
  double low = 0;
  double high = 0;
};

// At least two pairs, mean(b) > 0.
RelativeDifference relative_difference(std::span<const double> a, std::span<const double> b);

double mean(std::span<const double> values);
// Of the mean.
double standard_error(std::span<const double> values);

}  // namespace ration::e2
