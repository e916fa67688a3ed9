#include "mechanisms/exact_sampling.h"

#include "base/distributions.h"

namespace ration::exact {
namespace {

// Both forms of bernoulli under one name, so that the series below is written once.
bool chance(RandomSource& random, std::uint64_t numerator, std::uint64_t denominator) {
  return uniform_below(random, denominator) < numerator;
}
bool chance(RandomSource& random, const Wide& numerator, const Wide& denominator) {
  return bernoulli(random, numerator, denominator);
}

// numerator <= denominator. The series of exp(-x): k successes of x, x/2, x/3, ... in a row, then a failure;
// the number of trials is odd with probability 1 - x + x^2/2! - ... It reaches k with probability below 1/k!.
template <class Integer>
bool bernoulli_exp_of_fraction(RandomSource& random, const Integer& numerator, const Integer& denominator) {
  std::uint64_t trials = 1;
  while (chance(random, numerator, Integer(denominator * trials))) ++trials;
  return trials % 2 == 1;
}

bool bernoulli_exp_of_one(RandomSource& random) {
  return bernoulli_exp_of_fraction<std::uint64_t>(random, 1, 1);
}

// exp(-x) = exp(-1)^floor(x) * exp(-(x - floor(x))).
template <class Integer>
bool bernoulli_exp_of_ratio(RandomSource& random, Integer numerator, const Integer& denominator) {
  while (numerator > denominator) {
    if (!bernoulli_exp_of_one(random)) return false;
    numerator -= denominator;
  }
  return bernoulli_exp_of_fraction(random, numerator, denominator);
}

std::int64_t with_sign(bool negative, std::uint64_t magnitude) {
  const auto value = static_cast<std::int64_t>(magnitude);
  return negative ? -value : value;
}

bool coin(RandomSource& random) {
  return (random.next_word() >> 63) != 0;
}

}  // namespace

// Compares a uniform real number with the fraction, 64 binary digits at a time, until they differ.
bool bernoulli(RandomSource& random, const Wide& numerator, const Wide& denominator) {
  if (numerator >= denominator) return true;
  Wide rest = numerator;
  for (;;) {
    rest <<= 64;
    const auto digits = static_cast<std::uint64_t>(rest / denominator);
    const std::uint64_t word = random.next_word();
    if (word != digits) return word < digits;
    rest %= denominator;
  }
}

bool bernoulli_exp(RandomSource& random, std::uint64_t numerator, std::uint64_t denominator) {
  return bernoulli_exp_of_ratio(random, numerator, denominator);
}

bool bernoulli_exp(RandomSource& random, const Wide& numerator, const Wide& denominator) {
  return bernoulli_exp_of_ratio(random, numerator, denominator);
}

std::uint64_t geometric(RandomSource& random, std::uint64_t scale) {
  std::uint64_t low = uniform_below(random, scale);
  while (!bernoulli_exp(random, low, scale)) low = uniform_below(random, scale);
  std::uint64_t high = 0;
  while (bernoulli_exp_of_one(random)) ++high;
  return low + scale * high;
}

std::int64_t discrete_laplace(RandomSource& random, std::uint64_t scale) {
  for (;;) {
    const bool negative = coin(random);
    const std::uint64_t magnitude = geometric(random, scale);
    if (!(negative && magnitude == 0)) return with_sign(negative, magnitude);  // zero has one sign, not two
  }
}

std::int64_t rounded_laplace(RandomSource& random, std::uint64_t scale) {
  if (!bernoulli_exp(random, 1, 2 * scale)) return 0;
  return with_sign(coin(random), 1 + geometric(random, scale));
}

}  // namespace ration::exact
