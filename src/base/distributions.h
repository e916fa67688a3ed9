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

// Normal noise by the Box-Muller transform, 64 random bits for the radius and 54 for the angle.
// Guarantee   each value is within a relative error of 1e-15 of the exact transform of its bits; the radius
//             reaches 9.4 standard deviations, beyond which the exact distribution has mass 2^-64.
// Why not     fewer bits: a mechanism releases noise on a grid that is as fine as 2^-30 of its scale
//             (mechanisms/grid.h). An angle of b bits puts the pairs on 2^b rays, 2^(b-30) of them through
//             each cell of the grid, so that the probability of a cell is off by about 2^(30-b), and n pairs
//             can be told from ideal ones with an advantage of about sqrt(n) 2^(30-b): 3e-4 for 4 million
//             parameters with b = 52, but certainty with the 32 bits that would halve the work of the cipher.
// Edge cases  stddev = 0 gives zeros; 0 <= stddev <= 1e300.
double standard_gaussian(RandomSource& random);
void fill_gaussian(RandomSource& random, std::span<double> out, double stddev, const Ahead& ahead = {});

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
