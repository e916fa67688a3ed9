#pragma once

#include <cmath>
#include <limits>

namespace ration {

// Arithmetic on numbers >= 0 that never falls below the exact result: the result itself where it is a double,
// and the next double above it where it is not. Errors of sums, products and remainders of quotients are
// doubles themselves, so their sign says which case it is; below the range where that holds, the result is
// rounded up in any case.

inline double next_up(double value) {
  return std::nextafter(value, std::numeric_limits<double>::infinity());
}

inline double add_up(double a, double b) {
  const double sum = a + b;
  const double of_b = sum - a;
  const double error = (a - (sum - of_b)) + (b - of_b);
  return error > 0 ? next_up(sum) : sum;
}

namespace round_up_detail {
constexpr double kErrorsAreDoubles = 1e-290;  // above it no error underflows
}

inline double multiply_up(double a, double b) {
  if (a == 0 || b == 0) return 0;
  const double product = a * b;
  const bool inexact =
      product < round_up_detail::kErrorsAreDoubles || std::fma(a, b, -product) > 0;  // rounded down
  return inexact ? next_up(product) : product;
}

inline double divide_up(double a, double b) {
  if (a == 0) return 0;
  const double quotient = a / b;
  const bool inexact = quotient < round_up_detail::kErrorsAreDoubles ||
                       a < round_up_detail::kErrorsAreDoubles || std::fma(-quotient, b, a) > 0;
  return inexact ? next_up(quotient) : quotient;
}

}  // namespace ration
