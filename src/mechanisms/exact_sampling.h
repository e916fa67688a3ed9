#pragma once

#include <boost/multiprecision/cpp_int.hpp>
#include <cstdint>

#include "ration/base/random.h"

namespace ration::exact {

// Draws whose probabilities are exact: integers and fair bits, no floating point. All of them take a number
// of steps that depends on what they return; a caller whose running time is observed leaks something about
// the noise [Jin22].

// Overflow throws instead of wrapping.
using Wide = boost::multiprecision::checked_uint512_t;

// True with probability numerator / denominator; numerator <= denominator, 1 <= denominator < 2^440.
bool bernoulli(RandomSource& random, const Wide& numerator, const Wide& denominator);

// True with probability exp(-numerator / denominator). The narrow form is the fast one. [CKS20, Alg. 1]
bool bernoulli_exp(RandomSource& random, std::uint64_t numerator, std::uint64_t denominator);  // both < 2^40
bool bernoulli_exp(RandomSource& random, const Wide& numerator, const Wide& denominator);      // both < 2^400

// k = 0, 1, 2, ... with probability proportional to exp(-k / scale); 1 <= scale < 2^33. [CKS20, Alg. 2]
// The result stays below 2^63 except with probability exp(-2^30).
std::uint64_t geometric(RandomSource& random, std::uint64_t scale);

// Any integer k with probability proportional to exp(-|k| / scale): the discrete Laplace. [CKS20, Alg. 2]
std::int64_t discrete_laplace(RandomSource& random, std::uint64_t scale);

// A real Laplace variable of this scale, rounded to the nearest integer: with probability 1 - exp(-1 / (2
// scale)) it lies within half of zero; what exceeds half is again exponential, and the integer part of an
// exponential is geometric. It differs from the discrete Laplace in its mass at zero, and unlike it is
// post-processing of the real Laplace.
std::int64_t rounded_laplace(RandomSource& random, std::uint64_t scale);

}  // namespace ration::exact
