#include <bit>
#include <cmath>

#include "base/check.h"
#include "base/distributions.h"

namespace ration {

double uniform(RandomSource& random) {
  constexpr double kLargestBelowOne = 1 - 0x1p-53;
  std::uint64_t bits = random.next_word();
  int exponent = -64;
  while (bits == 0 && exponent > -1024) {  // leading zeros belong to the exponent
    bits = random.next_word();
    exponent -= 64;
  }
  const int zeros = bits == 0 ? 0 : std::countl_zero(bits);
  if (zeros > 0) bits = (bits << zeros) | (random.next_word() >> (64 - zeros));
  // The lowest bit stands for all the bits that were not drawn: with it a tie cannot happen, so rounding is
  // right.
  const double value = std::ldexp(static_cast<double>(bits | 1), exponent - zeros);
  return value < 1 ? value : kLargestBelowOne;
}

std::uint64_t uniform_below(RandomSource& random, std::uint64_t n) {
  require("uniform_below", "n", static_cast<double>(n), at_least(1));
  using Wide = unsigned __int128;
  // word * n / 2^64 hits each value 2^64 / n times, except that the first 2^64 mod n products of each are
  // surplus.
  Wide product = static_cast<Wide>(random.next_word()) * n;
  if (static_cast<std::uint64_t>(product) < n) {
    const std::uint64_t surplus = -n % n;
    while (static_cast<std::uint64_t>(product) < surplus) product = static_cast<Wide>(random.next_word()) * n;
  }
  return static_cast<std::uint64_t>(product >> 64);
}

// Compares the binary digits of a uniform number with those of p, 64 at a time, as far as needed.
bool bernoulli(RandomSource& random, double p) {
  require("bernoulli", "p", p, at_least(0).at_most(1));
  if (p == 1) return true;
  for (double rest = p; rest > 0;) {
    const double scaled = std::ldexp(rest, 64);
    const double digits = std::floor(scaled);
    const std::uint64_t word = random.next_word();
    if (word != static_cast<std::uint64_t>(digits)) return word < static_cast<std::uint64_t>(digits);
    rest = scaled - digits;
  }
  return false;
}

}  // namespace ration
