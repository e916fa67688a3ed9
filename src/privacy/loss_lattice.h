#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "privacy/sampled_gaussian.h"

namespace ration {

// The privacy loss of one step on the lattice {j * width}: mass[i] is the probability under P of the loss
// (first + i) * width. What is cut off at the top is not in `mass`; its logarithm is `log_lost`.
struct LossLattice {
  double width;
  std::int64_t first;
  std::vector<double> mass;
  double log_lost;

  double loss(std::size_t i) const {
    return width * static_cast<double>(first + static_cast<std::int64_t>(i));
  }
};

// What of a step's loss a lattice has to hold.
struct LossRange {
  double log_lost;  // P-mass that may be cut off above, its logarithm
  double lowest =
      -std::numeric_limits<double>::infinity();  // losses below may be rounded up to it, or dropped
};

// How far the losses that a lattice holds are apart: its number of points times its width.
double loss_span(const SampledGaussian& step, Direction direction, const LossRange& range);

// A pair of laws on the lattice that dominates the step's pair: its privacy curve is everywhere at or above.
//
// Connect the dots [Doroshenko22, Sec. 4]: between two lattice points the curve delta(e^epsilon), which is
// convex, is replaced by its chord. In terms of masses: a cell's probability is split over its two ends so
// that both the P and the Q mass are kept. Per step the variance grows by at most width^2 / 4, where rounding
// up would shift the mean. Every floating-point error is charged upwards: cell masses are rounded up, and so
// is the share of the upper end.
LossLattice pessimistic_lattice(const SampledGaussian& step, Direction direction, double width,
                                const LossRange& range);

// A pair on the lattice that the step's pair dominates: its curve is everywhere at or below.
//
// Tangents instead of chords: outputs are merged into cells, which is post-processing and can only hide, and
// the cell borders are chosen one after the other, from the side where sampling bounds the loss, so that the
// merged cell's loss log(P/Q) is the lattice point itself. Where that cannot be met the loss is rounded down.
// Errors are charged downwards.
LossLattice optimistic_lattice(const SampledGaussian& step, Direction direction, double width,
                               const LossRange& range);

}  // namespace ration
