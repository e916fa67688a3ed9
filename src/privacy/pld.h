#pragma once

#include <cstddef>
#include <span>

#include "privacy/sampled_gaussian.h"

namespace ration {

// Privacy loss distributions: the loss of every step is put on a lattice, once rounded so that the resulting
// curve lies above the truth and once so that it lies below, composed by Fourier transform, and every error
// on the way (cut-off tails, folding, floating point) is charged to delta. The upper figure is the certified
// one.
//
// The lattice is as fine as the tolerance asks, up to `max_points`; a coarser one gives a wider bracket,
// never a wrong one. [Koskela20, Doroshenko22, Gopi21]
struct PldOptions {
  double tolerance = 5e-4;  // > 0: the aimed-at slack of epsilon, relative below epsilon 1 and absolute above
  std::size_t max_points = std::size_t{1} << 21;  // of one transform; at least 1024
};

struct PldBounds {
  double lower;
  double upper;
};

// Bounds on the smallest epsilon >= 0 with delta(epsilon) <= delta, over both directions of add_remove.
PldBounds pld_epsilon(std::span<const SampledGaussian> plan, double delta, const PldOptions& options = {});
// The upper bound alone, at half the cost.
double pld_epsilon_upper(std::span<const SampledGaussian> plan, double delta, const PldOptions& options = {});

// Bounds on delta(epsilon), epsilon >= 0.
PldBounds pld_delta(std::span<const SampledGaussian> plan, double epsilon, const PldOptions& options = {});

}  // namespace ration
