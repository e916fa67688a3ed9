#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "base/per_processor.h"

namespace ration {

// Functions without a branch or a table, so that a loop over them becomes vector instructions. For files
// compiled like row_products.cpp (cmake/core.cmake).

// e^x for x <= 0, to 2 units in the last place; e^-340 below -340, so that neither it nor its square is a
// denormal number, which would cost a hundred times as much. NaN stays NaN.
RATION_INLINE double exp_of_negative(double x) {
  constexpr double kLog2OfE = 1.4426950408889634;
  constexpr double kLn2High = 0x1.62e42fefa38p-1;  // its product with a small integer is exact
  constexpr double kLn2Low = 0x1.ef35793c7673p-45;
  constexpr double kRound = 0x1.8p52;  // adding it leaves an integer in the low bits
  const double clamped = x < -340.0 ? -340.0 : x;
  const double shifted = clamped * kLog2OfE + kRound;
  const double k = shifted - kRound;
  const double r = (clamped - k * kLn2High) - k * kLn2Low;  // |r| <= ln(2) / 2
  double p = 1.0 / 6227020800;                              // 1 / 13!
  p = p * r + 1.0 / 479001600;
  p = p * r + 1.0 / 39916800;
  p = p * r + 1.0 / 3628800;
  p = p * r + 1.0 / 362880;
  p = p * r + 1.0 / 40320;
  p = p * r + 1.0 / 5040;
  p = p * r + 1.0 / 720;
  p = p * r + 1.0 / 120;
  p = p * r + 1.0 / 24;
  p = p * r + 1.0 / 6;
  p = p * r + 0.5;
  p = p * r + 1;
  p = p * r + 1;
  // k + 1023 in the place of the exponent: 2^k.
  const std::uint64_t exponent = (std::bit_cast<std::uint64_t>(shifted) + 1023) << 52;
  return p * std::bit_cast<double>(exponent);
}

// log(1 + x) for 0 <= x <= 1, to 3 units in the last place: 2 atanh(s) = 2 (s + s^3 / 3 + ...), with 1 + x
// halved where it is above sqrt(2), so that |s| <= 0.172.
RATION_INLINE double log1p_of_unit(double x) {
  constexpr double kLn2 = 0x1.62e42fefa39efp-1;
  const bool halve = x > 0.41421356237309503;
  const double s = (halve ? x - 1 : x) / (halve ? x + 3 : x + 2);
  const double t = s * s;
  double p = 1.0 / 21;
  p = p * t + 1.0 / 19;
  p = p * t + 1.0 / 17;
  p = p * t + 1.0 / 15;
  p = p * t + 1.0 / 13;
  p = p * t + 1.0 / 11;
  p = p * t + 1.0 / 9;
  p = p * t + 1.0 / 7;
  p = p * t + 1.0 / 5;
  p = p * t + 1.0 / 3;
  const double log = 2 * s + 2 * s * t * p;
  return halve ? kLn2 + log : log;
}

}  // namespace ration
