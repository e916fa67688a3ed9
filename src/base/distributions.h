#pragma once

#include <cstdint>
#include <span>

#include "base/ahead.h"
#include "ration/base/random.h"

namespace ration {

// Draws from the usual distributions. Each takes its bits as an argument and keeps no state of its own; a
// parameter outside its stated range throws InputError. Every value is finite.

// Uniform in the open interval (0, 1): a real number drawn exactly, then rounded to a double, so that small
// values have full precision too.
double uniform(RandomSource& random);

// Uniform on 0, ..., n - 1 without bias; n >= 1. [Lemire19]
std::uint64_t uniform_below(RandomSource& random, std::uint64_t n);

// True with probability exactly the double p; 0 <= p <= 1.
bool bernoulli(RandomSource& random, double p);

// Normal values by the Box-Muller transform, 64 random bits for the radius and 52 for the angle, in double
// precision: for start values, mutations and public tasks. Noise that protects rows is rounded_gaussian's.
// Guarantee   each value is within a relative error of 2e-15 of the exact transform of its bits; the radius
//             reaches 9.4 standard deviations, beyond which the exact distribution has mass 2^-64.
// Edge cases  stddev = 0 gives zeros; 0 <= stddev <= 1e300.
double standard_gaussian(RandomSource& random);
void fill_gaussian(RandomSource& random, std::span<double> out, double stddev, const Ahead& ahead = {});

// A real normal variable of this standard deviation, rounded to the nearest whole number, for each place.
// Guarantee   exactly that distribution, given ideal random bits: the values of fill_gaussian() decide except
//             where their error could matter (about one in a million, and all beyond 5.2 standard
//             deviations), and there as many digits of the real numbers are computed, from as many more bits,
//             as it takes (real_draw.h). No tail is cut off. docs/proofs/sampler.md
// Cost        That of fill_gaussian() and a tenth; the words are the same.
// Edge cases  0 < stddev <= 2^45. Beyond 2^35 the slow way begins to show.
void fill_rounded_gaussian(RandomSource& random, std::span<double> out, double stddev,
                           const Ahead& ahead = {});

// Density exp(-|x| / scale) / (2 scale); 0 < scale <= 1e300.
double laplace(RandomSource& random, double scale);

// Density exp(-x / mean) / mean on x > 0; 0 < mean <= 1e300.
double exponential(RandomSource& random, double mean);

// Successes in n trials of probability p, in expected time independent of n.
// Guarantee   exact but for the rounding of double arithmetic: each probability is right within a factor 1 +-
//             1e-8 for n = 2^53, and 1 +- 1e-9 for n <= 1e12.
// Edge cases  n = 0 and p = 0 give 0, p = 1 gives n; 0 <= n <= 2^53, 0 <= p <= 1.
std::uint64_t binomial(RandomSource& random, std::uint64_t n, double p);

}  // namespace ration
