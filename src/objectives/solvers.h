#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "ration/base/random.h"
#include "ration/objectives/fits.h"
#include "ration/objectives/objective.h"

namespace ration {

// Fits of F(w) = (sum over the batch of l_i(w) + <linear, w>) / divisor + ridge / 2 |w|^2, the divisor being
// the batch's.
//
// They are exact, not private: only the oracle calls them, and adds the noise (see fit_sensitivity.h), or a
// program whose rows are public. All start at w = 0.
struct RidgeProblem {
  Objective& objective;
  const Batch& batch;
  double ridge = 0.001;              // >= 0
  std::span<const double> linear{};  // one per parameter, or none
  double most_per_row = 1e150;       // > 0; no row's gradient is longer
};

// w, one place per parameter. The order of passes comes from `random`; it does not depend on the rows.
void run_fit(const RidgeProblem& problem, const AnyFit& fit, RandomSource& random, std::span<double> w);

// The gradient of F at w; returns its norm.
double ridge_gradient(const RidgeProblem& problem, std::span<const double> w, std::span<double> gradient);

// The minimum of F for ridge > 0: NLopt's L-BFGS, then accelerated gradient descent if that
// ended early, until the gradient is no longer than `tolerance` > 0, so that w is within tolerance / ridge of
// the minimum. `smoothness` is the Lipschitz constant of F's gradient. InternalError if the tolerance is
// below what rounding allows.
void minimise(const RidgeProblem& problem, double smoothness, double tolerance, std::span<double> w);

struct NonPrivateOptions {
  double ridge = 0.001;        // >= 0
  double tolerance = 1e-8;     // > 0; the gradient's norm to stop at
  int most_evaluations = 300;  // >= 1
};

// The minimum over all rows, as near as L-BFGS comes. NOT PRIVATE: whoever calls this must say so in what it
// writes, or have rows that are public.
std::vector<double> fit_without_privacy(Objective& objective, const NonPrivateOptions& options);

}  // namespace ration
