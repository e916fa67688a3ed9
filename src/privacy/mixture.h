#pragma once

#include <cmath>

namespace ration {

// What sampling at `rate` does to a likelihood ratio e^u: log(1 - rate + rate e^u), also where e^u overflows.
// Above the limit 1 - rate cannot be seen beside the other term.
inline double log_mixture(double rate, double u) {
  constexpr double kExponentialIsHuge = 300;
  if (rate == 1) return u;
  return u < kExponentialIsHuge ? std::log1p(rate * std::expm1(u)) : u + std::log(rate);
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
