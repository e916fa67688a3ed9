#pragma once

#include <cstddef>
#include <span>

#include "mechanisms/grid.h"
#include "ration/base/random.h"
#include "ration/privacy/event.h"

namespace ration {

class Ahead;  // base/ahead.h, for the library itself

struct GaussianOptions {
  double sensitivity = 1.0;       // > 0; L2, under the relation the guarantee is stated for
  double noise_multiplier = 1.0;  // > 0; noise standard deviation per unit of sensitivity
};

// Adds N(0, s^2) to every coordinate of a sum and releases it on a public grid (grid.h).
//
// Formula     s = noise_multiplier * (sensitivity + sqrt(d) * step) for d coordinates.
// Guarantee   Rounding the value makes its sensitivity at most sensitivity + sqrt(d) * step (triangle
//             inequality, half a step per coordinate on each of two neighbours). The noise is scaled to
//             that, so the release is post-processing of an ideal Gaussian mechanism whose noise multiplier
//             is exactly the one asked for, and this is what the event says. The noise has exactly the
//             distribution of N(0, s^2) rounded to the grid, given ideal random bits: it is computed in
//             double precision, and wherever that cannot tell to which step it rounds, or how far a tail
//             goes, by as many digits as it takes (fill_rounded_gaussian, base/distributions.h). Proof:
//             docs/proofs/sampler.md.
// Edge cases  NaN is released as 0 plus noise; values too large for the grid are clamped (grid.h). An empty
//             span is a release of nothing. Noise beyond 2^45 steps (a noise multiplier of 1e10 on millions
//             of coordinates) is refused.
// [Mironov12] for the attack the grid stops, [Balle18] for the mechanism's exact curve.
class GaussianMechanism {
 public:
  explicit GaussianMechanism(const GaussianOptions& options);

  // In place and without allocation.
  void add_noise(std::span<double> sum, RandomSource& random) const;
  // The same for a part of a sum of `dimension` coordinates, which stays as it is: `released`, of the same
  // size, is factor * (part + noise). If the random source throws, that is so up to some place, and beyond
  // `released` tells nothing of the sum. While the noise of the first 1024 coordinates is computed, the
  // memory in `ahead` is asked for.
  void release_part(std::span<const double> part, std::size_t dimension, double factor, RandomSource& random,
                    std::span<double> released, const Ahead* ahead = nullptr) const;
  void release_part(std::span<const float> part, std::size_t dimension, double factor, RandomSource& random,
                    std::span<double> released, const Ahead* ahead = nullptr) const;

  double stddev(std::size_t dimension) const;
  const Grid& grid() const { return grid_; }
  const GaussianOptions& options() const { return options_; }
  Event event() const { return Event::gaussian(options_.noise_multiplier); }

 private:
  double stddev_in_steps(std::size_t dimension) const;

  GaussianOptions options_;
  Grid grid_;
};

}  // namespace ration
