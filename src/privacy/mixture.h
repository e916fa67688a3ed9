#pragma once

#include <algorithm>
#include <cmath>

namespace ration {

// What sampling at `rate` does to a likelihood ratio e^u: log(1 - rate + rate e^u), also where e^u overflows.
inline double log_mixture(double rate, double u) {
  constexpr double kExponentialIsHuge = 300;
  if (rate == 1) return u;
  if (u < kExponentialIsHuge) return std::log1p(rate * std::expm1(u));
  // Which of the two terms is the larger depends on the rate, which may be far below e^-u.
  const double drawn = u + std::log(rate), not_drawn = std::log1p(-rate);
  return std::max(drawn, not_drawn) + std::log1p(std::exp(-std::abs(drawn - not_drawn)));
}

// Its inverse, the u that sampling turns into `level`; -infinity if every u is turned into more.
inline double log_unmixed(double rate, double level) {
  constexpr double kExponentialIsHuge = 300;
  if (rate == 1) return level;
  if (level >= kExponentialIsHuge) return level - std::log(rate);
  const double excess = std::expm1(level) / rate;
  return excess <= -1 ? -HUGE_VAL : std::log1p(excess);
}

}  // namespace ration
