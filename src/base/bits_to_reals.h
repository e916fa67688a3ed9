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

// Any word as the sum of two doubles, which are exact. Processors without a vector conversion from 64-bit
// integers (before AVX-512DQ) need it this way.
struct Halves {
  double high;
  double low;
};
RATION_INLINE Halves halves(std::uint64_t n) {
  constexpr double kTwo84 = 0x1p84;
  return {std::bit_cast<double>((n >> 32) | std::bit_cast<std::uint64_t>(kTwo84)) - (kTwo84 + kTwo52),
          std::bit_cast<double>((n & 0xffffffffu) | std::bit_cast<std::uint64_t>(kTwo52))};
}

// Any word, rounded to nearest: the halves meet in one addition, so there is one rounding.
RATION_INLINE double to_double(std::uint64_t n) {
  const Halves exact = halves(n);
  return exact.high + exact.low;
}

// c[0] + c[1] x + c[2] x^2 + ...
template <std::size_t N>
RATION_INLINE double polynomial(const std::array<double, N>& c, double x) {
  double sum = c[N - 1];
  for (std::size_t i = N - 1; i-- > 0;) sum = sum * x + c[i];
  return sum;
}

// The same polynomial with its last terms replaced by lower ones, for 0 <= x <= most [Lanczos56]: x^n is the
// n-th Chebyshev polynomial of 2 x / most - 1 over its leading coefficient, which is nowhere larger than 2
// (most / 4)^n, and lower powers. That is what dropping it costs, 4^n / 2 times less than what cutting the
// series off would.
template <std::size_t N, std::size_t M>
constexpr std::array<double, N> shortened(std::array<long double, M> c, long double most) {
  const long double slope = 2 / most;
  for (std::size_t n = M - 1; n >= N; --n) {
    std::array<long double, M> before{1}, chebyshev{-1, slope};
    for (std::size_t k = 1; k < n; ++k) {
      std::array<long double, M> next{};
      for (std::size_t i = 0; i < M; ++i) {
        next[i] = -2 * chebyshev[i] - before[i] + (i == 0 ? 0 : 2 * slope * chebyshev[i - 1]);
      }
      before = chebyshev;
      chebyshev = next;
    }
    const long double share = c[n] / chebyshev[n];
    for (std::size_t i = 0; i <= n; ++i) c[i] -= share * chebyshev[i];
  }
  std::array<double, N> rounded{};
  for (std::size_t i = 0; i < N; ++i) rounded[i] = static_cast<double>(c[i]);
  return rounded;
}

// 2 (1 + z/3 + z^2/5 + ...) = 2 atanh(s)/s for z = s^2 <= 0.0295: the first dropped term costs less than
// 2^-58.
inline constexpr auto kAtanh = [] {
  std::array<long double, 12> c{};
  for (std::size_t i = 0; i < c.size(); ++i) c[i] = 2.0L / static_cast<long double>(2 * i + 1);
  return shortened<8>(c, 0.0295L);
}();

// (-1)^i / (2i + first)!: sine over its argument (first = 1) and cosine (first = 0) in the squared argument,
// which is at most (pi/4)^2.
template <std::size_t N>
constexpr std::array<double, N> circular_series(std::size_t first) {
  std::array<long double, 12> c{};
  long double term = 1;
  for (std::size_t i = 0; i < c.size(); ++i) {
    c[i] = term;
    const auto n = 2 * i + first;
    term /= -static_cast<long double>((n + 1) * (n + 2));
  }
  return shortened<N>(c, std::numbers::pi_v<long double> * std::numbers::pi_v<long double> / 16);
}
inline constexpr auto kSine = circular_series<7>(1);    // dropped: below 2^-58
inline constexpr auto kCosine = circular_series<7>(0);  // dropped: below 2^-54

// -log(u) for u = (word | 1) / 2^64, which is uniform on odd multiples of 2^-64: between 5.4e-20 and 44.4,
// never 0. u = 2^(k - 64) m with m in [sqrt(1/2), sqrt(2)), and log(m) = 2 atanh((m - 1) / (m + 1)). Next to
// u = 1 the difference m - 1 is taken from the integer, so that all 64 bits count at both ends. Relative
// error below 8e-16 (measured: 5.7e-16).
RATION_INLINE double exponential_from(std::uint64_t word) {
  constexpr std::uint64_t kSqrtHalf = std::bit_cast<std::uint64_t>(std::numbers::sqrt2 / 2);
  const Halves odd = halves(word | 1);
  const std::uint64_t real = std::bit_cast<std::uint64_t>(odd.high + odd.low);
  const std::uint64_t k = (real - kSqrtHalf) >> 52;
  const double m = std::bit_cast<double>(real - (k << 52));
  const double from_integer = 0x1p-64 * ((odd.high - 0x1p64) + odd.low);
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

// Two independent normal values from an exponential one and a word. [Box58]
RATION_INLINE Pair gaussian_from(double exponential, std::uint64_t angle_word, double stddev) {
  return point_on_circle(angle_word, stddev * std::sqrt(2 * exponential));
}

}  // namespace ration::bits
