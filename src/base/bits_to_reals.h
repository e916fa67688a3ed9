#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>

#include "base/per_processor.h"

// Random words turned into exponential and Gaussian values, without branches, tables or library calls, so
// that the compiler vectorises a loop over them on any processor. The series are Taylor series: their
// coefficients explain themselves and their remainders are bounded below 2^-54 beside each.
namespace ration::bits {

inline constexpr double kTwo52 = 0x1p52;

// An integer below 2^52, exactly: its bits become the fraction of 2^52.
RATION_INLINE double small_to_double(std::uint64_t n) {
  return std::bit_cast<double>(n | std::bit_cast<std::uint64_t>(kTwo52)) - kTwo52;
}

// Any word, rounded to nearest. The two halves meet in one addition, so there is one rounding; processors
// without a vector conversion from 64-bit integers (before AVX-512DQ) need it this way.
RATION_INLINE double to_double(std::uint64_t n) {
  constexpr double kTwo84 = 0x1p84;
  const double high =
      std::bit_cast<double>((n >> 32) | std::bit_cast<std::uint64_t>(kTwo84)) - (kTwo84 + kTwo52);
  const double low = std::bit_cast<double>((n & 0xffffffffu) | std::bit_cast<std::uint64_t>(kTwo52));
  return high + low;
}

// c[0] + c[1] x + c[2] x^2 + ...
template <std::size_t N>
RATION_INLINE double polynomial(const std::array<double, N>& c, double x) {
  double sum = c[N - 1];
  for (std::size_t i = N - 1; i-- > 0;) sum = sum * x + c[i];
  return sum;
}

// 2 (1 + z/3 + z^2/5 + ...) = 2 atanh(s)/s for z = s^2 <= 0.0295: the first omitted term is below 2^-60.
inline constexpr auto kAtanh = [] {
  std::array<double, 11> c{};
  for (std::size_t i = 0; i < c.size(); ++i) c[i] = 2.0 / static_cast<double>(2 * i + 1);
  return c;
}();

// (-1)^i / (2i + first)!: sine over its argument (first = 1) and cosine (first = 0) in the squared argument.
template <std::size_t N>
constexpr std::array<double, N> circular_series(std::size_t first) {
  std::array<double, N> c{};
  long double term = 1;
  for (std::size_t i = 0; i < N; ++i) {
    c[i] = static_cast<double>(term);
    const auto n = 2 * i + first;
    term /= -static_cast<long double>((n + 1) * (n + 2));
  }
  return c;
}
inline constexpr auto kSine = circular_series<9>(1);     // |angle| <= pi/4: remainder below 2^-63
inline constexpr auto kCosine = circular_series<10>(0);  // |angle| <= pi/4: remainder below 2^-67

// -log(u) for u = (word | 1) / 2^64, which is uniform on odd multiples of 2^-64: between 5.4e-20 and 44.4,
// never 0. u = 2^(k - 64) m with m in [sqrt(1/2), sqrt(2)), and log(m) = 2 atanh((m - 1) / (m + 1)). Next to
// u = 1 the difference m - 1 is taken from the integer, so that all 64 bits count at both ends. Relative
// error below 8e-16 (measured: 5.7e-16).
RATION_INLINE double exponential_from(std::uint64_t word) {
  constexpr std::uint64_t kSqrtHalf = std::bit_cast<std::uint64_t>(std::numbers::sqrt2 / 2);
  const std::uint64_t odd = word | 1;
  const std::uint64_t real = std::bit_cast<std::uint64_t>(to_double(odd));
  const std::uint64_t k = (real - kSqrtHalf) >> 52;
  const double m = std::bit_cast<double>(real - (k << 52));
  const double from_integer = -0x1p-64 * to_double(-odd);
  const double from_m = m - 1;
  const double d = k == 64 ? from_integer : from_m;
  const double s = d / (2 + d);
  return small_to_double(64 - k) * std::numbers::ln2 - s * polynomial(kAtanh, s * s);
}

struct Pair {
  double first;
  double second;
};

// A point on the circle around 0, uniformly: an angle within pi/4 of the axis from 52 bits (never 0), then
// one random bit exchanges the coordinates and another negates them. Relative error of each coordinate below
// 8e-16.
RATION_INLINE Pair point_on_circle(std::uint64_t word, double radius) {
  const double in_one_two = std::bit_cast<double>((word >> 12) | std::bit_cast<std::uint64_t>(1.0));
  const double angle = (std::numbers::pi / 2) * ((in_one_two - 1.5) + 0x1p-53);
  const double square = angle * angle;
  const std::uint64_t sign = word << 63;
  const double signed_radius = std::bit_cast<double>(std::bit_cast<std::uint64_t>(radius) ^ sign);
  const double sine = signed_radius * (angle * polynomial(kSine, square));
  const double cosine = signed_radius * polynomial(kCosine, square);
  const bool exchange = (word & 2) != 0;
  return {exchange ? sine : cosine, exchange ? cosine : sine};
}

// Two independent standard normal values [Box58].
RATION_INLINE Pair gaussian_from(std::uint64_t radius_word, std::uint64_t angle_word) {
  return point_on_circle(angle_word, std::sqrt(2 * exponential_from(radius_word)));
}

}  // namespace ration::bits
