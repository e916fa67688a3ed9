#pragma once

#include <cstdint>

namespace ration {

inline constexpr double kUnitRoundoff = 0x1p-53;

// The error of a sum of up to `rows` contributions of norm 1, each rounded at most `chain` times.
inline double sum_error(std::uint64_t rows, std::uint64_t chain) {
  const double rounding = static_cast<double>(chain) * kUnitRoundoff;
  return static_cast<double>(rows) * rounding / (1 - rounding);
}

}  // namespace ration
