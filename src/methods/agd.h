#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "methods/method.h"
#include "ration/clipping/any_clip_rule.h"
#include "steps/averaging.h"

namespace ration {

// The defaults are those of the authors' public program.
struct AgdOptions {
  AnyClipRule clip = Abadi{3};
  double loss_bound = 3;          // of each row, in the choice of the step; 1e-200 to 1e200
  double gradient_rho = 1e-4;     // > 0; of each gradient, in zCDP: noise multiplier 1/sqrt(2 rho)
  double minimum_epsilon = 0.01;  // > 0; of each choice

  std::int64_t candidates = 21;   // 2 to 1e4; equally spaced, 0 is the first
  double first_step = 2;          // > 0
  std::int64_t reset_every = 10;  // >= 1
  double reset_factor = 1.1;      // >= 1
  double raise = 0.1;             // > 0
  double trusted = 2;             // >= 1; 1e300: no gradient is, as in the paper
  double ridge = 0.001;           // >= 0; adds ridge/2 |w|^2 to the mean loss
  AverageOptions average{};       // not `half`: the number of steps is not known
  std::vector<double> start{};    // where it begins, one number per parameter; empty: at zero
};

// DP-AGD: gradient descent that picks its own steps and budgets by a noisy minimum. [Lee18, Alg. 2]
//
//   d    = g / |g| + ridge w, g the noisy mean gradient
//   eta  = the best of `candidates` steps from 0 to the largest, by a noisy minimum of F(w - eta d)
//   w    = w - eta d
//
// If 0 is the best, the gradient was too noisy: its budget grows by `raise`, the difference buys another
// gradient, both are averaged by precision, and the choice is made again. If its squared length is `trusted`
// times what its noise alone would have, it was not, and the smallest step is taken (see LineSearchOptions;
// not in the paper). Every reset_every steps the largest candidate becomes min(reset_factor * the largest
// chosen, first_step).
//
// For full batches and zCDP: there the averaged gradients cost as much as one drawn with the whole budget.
// Guarantee   all it knows are the oracle's answers, each of them charged once. The minimum is the
//             exponential mechanism (Gumbel noise), zCDP with epsilon^2 / 8; exponential noise would not be
//             (docs/proofs/noisy-max.md).
// Scale       the ridge's term is public, and added to the sums of losses times the divisor.
// Ends        with the first query that the budget refuses. What it granted within that step is lost.
// InputError if the weights overflow.
std::unique_ptr<Method> make_agd(const AgdOptions& options, std::size_t parameters);

// The first budgets of the public program: e = epsilon / (2 * 60) for the choice and e^2 / 2 for the
// gradient.
AgdOptions agd_for(double epsilon);

}  // namespace ration
