#pragma once

#include <cstdint>

#include "objectives/solvers.h"
#include "ration/privacy/relation.h"

namespace ration {

// What the sensitivity of a fit depends on; all of it public.
struct FitScale {
  double lipschitz = 1;   // L: no row's gradient is longer, at any w
  double smoothness = 1;  // B: the Lipschitz constant of every row's gradient
  double ridge = 0.001;   // >= 0
  double divisor = 1;     // m > 0; of the sum over all rows, of which there are at most 2 m
  std::uint64_t parameters = 1;
  std::uint64_t longest_chain = 1;  // of the roundings of a sum (objective.h)
  Relation relation = Relation::add_remove;
};

// The largest step of either fit: 1 / (B + ridge).
double largest_step(const FitScale& scale);

// How far two neighbours' fits can be from each other, in L2, for convex losses; rounded up. InputError for a
// step above largest_step() and for PassesFit under add_remove.
//
// Contraction A step of size h <= 2 / (S + r) on a function that is r-strongly convex and S-smooth brings any
//             two points together by 1 - h r: with d their distance and g that of their gradients, <d, g> >=
//             (r S |d|^2 + |g|^2) / (r + S) [Nesterov04, Thm 2.1.12], hence |d - h g|^2 <= (1 - h r)^2 |d|^2,
//             using |g| >= r |d|. [Hardt16, Sec. 3.3] Here r is the ridge and S = (rows / m) B + r; with at
//             most 2m rows, h <= 1 / (B + r) is enough.
// Descent     F of the larger table, or of the other table, has a gradient that differs from F's by at most D
//             = L / m (add_remove) or 2 L / m (replace_one), wherever it is taken. So the distance of the
//             iterates grows from d to at most (1 - h r) d + h D in a step, and after T steps is at most
//               h D (1 + (1 - h r) + ... + (1 - h r)^(T-1)),
//             no more than D / r, the sensitivity of the minimum, and no more than T h D. [ZhangZMW17] The
//             divisor is public, and the number of rows enters nowhere.
// Passes      (replace_one) Both tables are permuted alike; only the batch at place p holds another row. Its
//             step adds g = 2 h L / batch, every step contracts. Over a pass of N steps with k = 1 - h r:
//               last:           d -> k^N d + g k^(N-1-p)
//               pass_averages:  d -> mean(k, ..., k^N) d + g (1 + k + ... + k^(N-p-1)) / N
//             The figure is the largest over all places p, computed. For ridge 0 that is g times the passes
//             for `last` [Wu17, Sec. 3.2], and for an even number of pass averages half of that times 1 +
//             1/N. Under add_remove a pass has one step more on the larger table, and all that is known of
//             that step is its length; an average over n iterates, n private, is worse still. Not offered.
// Rounding    of sums, of gradients and of steps is bounded to first order, and doubled; it is part of the
//             figure.
double fit_sensitivity(const AnyFit& fit, const FitScale& scale);

// A bound on the error of sum_i grad l_i(w) / m as it is computed, |w| <= largest_w.
double gradient_error(const FitScale& scale, double largest_w);

}  // namespace ration
