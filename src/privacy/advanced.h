#pragma once

#include <cstdint>
#include <span>

#include "privacy/sampled_gaussian.h"

namespace ration {

// Advanced composition of (epsilon, delta) pairs: the papers' baseline, valid for adaptive mechanisms and
// always far above the Renyi accountants. Everything here is rounded up.

// epsilon of `steps` mechanisms that are (epsilon, delta_i)-DP each, at total delta = sum delta_i + slack;
// the least of
//   T e                                                           basic
//   T e (e^e - 1) + e sqrt(2 T ln(1/slack))                       [Dwork10, Thm III.3]
//   T e tanh(e/2) + e sqrt(2 T ln(1/slack))                       [Kairouz15, Thm 3.4]
//   T e tanh(e/2) + e sqrt(2 T ln(e + e sqrt(T)/slack))           [Kairouz15, Thm 3.4]; the first e is
//   Euler's
// (tanh(e/2) = (e^e - 1)/(e^e + 1).) epsilon >= 0, 0 <= slack < 1; slack = 0 leaves the basic bound.
double advanced_composition_epsilon(double epsilon, double steps, double slack);

// epsilon at `delta` of a composition of Gaussian mechanisms, each (e0, d0)-DP by its exact curve [Balle18]
// and (ln(1 + q (e^e0 - 1)), q d0)-DP on its sample [Balle18b, Thm 8 and 9: Poisson under add_remove, fixed
// size under replace_one]; steps with different parameters by [Kairouz15, Thm 3.5]. Of delta, a part is the
// slack and the rest is shared equally by the steps. Every split is valid, so how well the best one is found
// affects only tightness.
double advanced_gaussian_epsilon(std::span<const SampledGaussian> steps, double delta);
double advanced_gaussian_epsilon(double noise, double rate, std::int64_t steps, double delta);

}  // namespace ration
