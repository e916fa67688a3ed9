// For extensions: may change between minor versions.
#pragma once

#include <cmath>
#include <concepts>
#include <limits>

#include "ration/clipping/sensitivity.h"

namespace ration {

// A clip rule says by which factor a row's gradient is multiplied, given its norm, such that norm *
// factor(norm) <= bound() for every norm > 0. Its hyper-parameters are an aggregate; it has no state.
template <class Rule>
concept ClipRule = std::copyable<Rule> && requires(const Rule rule, double norm) {
  { rule.factor(norm) } -> std::same_as<double>;
  { rule.bound() } -> std::same_as<double>;
};

// What rounding takes: norms and products are computed in double precision, with a relative error below this
// for rows of up to 2^12 non-zero entries, whatever the rows hold, and for far longer ones in practice.
inline constexpr double kRoundingRoom = 0x1p-40;

// Of numbers that are not negative: neither 0 nor subnormal, infinite or NaN.
constexpr bool has_all_digits(double value) {
  return value >= std::numeric_limits<double>::min() && value <= std::numeric_limits<double>::max();
}

// The factor as it is used: smaller by kRoundingRoom, so that what is computed, and not only what is meant,
// stays within the bound.
//
// Edge cases  0 if the norm is NaN or infinite: such a row contributes nothing, and says nothing about itself
//             by an error. 0 also if the norm or the factor is 0 or subnormal (too few digits: rounded up, a
//             factor of 1e-323 is half as large again), or the factor overflows.
template <ClipRule Rule>
double clip_factor(const Rule& rule, double norm) {
  if (!has_all_digits(norm)) return 0;
  const double factor = rule.factor(norm);
  return has_all_digits(factor) ? factor * (1 - kRoundingRoom) : 0;
}

// Of the sum of clipped gradients, in L2.
template <ClipRule Rule>
double sensitivity(const Rule& rule, Relation relation) {
  return gradient_sum_sensitivity(rule.bound(), relation);
}

}  // namespace ration
