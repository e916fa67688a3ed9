#pragma once

#include <cstddef>
#include <span>

#include "mechanisms/grid.h"
#include "ration/base/random.h"
#include "ration/privacy/event.h"

namespace ration {

struct LaplaceOptions {
  double sensitivity = 1.0;  // > 0; L1, under the relation the guarantee is stated for
  double scale = 1.0;        // > 0; noise scale per unit of sensitivity: pure (1 / scale)-DP
};

// Adds Laplace noise of scale b to every coordinate and releases it on a public grid (grid.h).
//
// Formula     b = scale * (sensitivity + d * step) for d coordinates, rounded up to whole steps.
// Guarantee   Rounding the value makes its L1 sensitivity at most sensitivity + d * step, and the noise is
//             scaled to that. The noise is drawn in integer arithmetic and has exactly the distribution of a
//             real Laplace variable rounded to the grid, so the release is post-processing of the real
//             Laplace mechanism: the event's pure (1 / scale)-DP and its Renyi curve hold without a
//             floating-point caveat.
// Edge cases  NaN is released as 0 plus noise; values too large for the grid are clamped (grid.h). With very
//             many coordinates d * step is no longer small (6% of the noise at a million); it is paid for
//             all the same. A scale beyond 2^32 steps after that enlargement is refused.
// [Dwork14, Thm 3.6], [CKS20, Alg. 2] for the exact geometric inside.
class LaplaceMechanism {
 public:
  explicit LaplaceMechanism(const LaplaceOptions& options);

  // In place and without allocation.
  void add_noise(std::span<double> values, RandomSource& random) const;
  double release(double value, RandomSource& random) const;

  double noise_scale(std::size_t dimension) const;
  const Grid& grid() const { return grid_; }
  Event event() const { return Event::laplace(options_.scale); }

 private:
  LaplaceOptions options_;
  Grid grid_;
};

}  // namespace ration
