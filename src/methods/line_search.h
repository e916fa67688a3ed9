#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

#include "clipping/decay.h"
#include "methods/method.h"
#include "ration/clipping/any_clip_rule.h"
#include "ration/mechanisms/above_threshold.h"
#include "ration/sampling/sampler.h"
#include "steps/averaging.h"

namespace ration {

// What becomes of the budgets when a search finds no step.

// CHEB: a second gradient at the same place, averaged with the first, and the angle between both. Wider than
// `widest` times the mean angle between the gradients of successive steps, or beyond a right angle: the
// gradient is all noise, so its budget grows. Narrower than `narrowest` times it: the search is to blame, so
// that one's grows. In between neither. The mean angle is a moving one, a right angle at first. [Chen20, Alg.
// 3, Eqs. 7, 8]
struct CheckAngles {
  double raise = 0.3;      // > 0; budgets are multiplied by 1 + raise
  double widest = 1.1;     // >= 1
  double narrowest = 0.5;  // in (0, 1]
  double memory = 0.8;     // in [0, 1); of the moving average
};

// DP-AGD's rule: the gradient's budget grows by `raise`, and the difference buys another gradient that is
// averaged with what there is, each weighing as much as its precision. [Lee18, Alg. 2]
struct RaiseGradient {
  double raise = 0.1;  // > 0
};

// Nothing: the step after the smallest candidate is taken. For nets. [Chen20, Sec. V-G]
struct NeverRaise {};

using BudgetGrowth = std::variant<CheckAngles, RaiseGradient, NeverRaise>;

// The defaults are those of [Chen20, Sec. V-D] for convex models. Two are not in the paper, and were chosen
// on made-up tables only:
// first_step       steps of 1/L decrease a loss of curvature L enough; for a logistic loss and rows of length
//                  2 to 4, L is 1 to 4 at most, and less along most directions. The resets bring 1 down if
//                  need be; steps of 2 and 4 at the start drove rows beyond the loss bound, where the search
//                  no longer sees them, and half of it was slower.
// candidates       decides when a gradient is called too noisy: when no step of at least shrink^(candidates -
//                  1), here a third, of the first decreases the loss enough. With 10 to 20 candidates hardly
//                  a search fails, since some tiny step passes by its noise; the budgets then stay at their
//                  small beginnings for thousands of steps. 6 are as accurate in a third to half of the
//                  queries; 4 are less accurate.
struct LineSearchOptions {
  AnyClipRule clip = Abadi{3};
  double loss_bound = 1;       // of each row, in the search; 1e-200 to 1e200
  double gradient_rho = 1e-4;  // > 0; of each gradient, in zCDP: noise multiplier 1/sqrt(2 rho)
  std::variant<LaplaceSearch, GaussianSearch> search = LaplaceSearch::with_epsilon(0.01);

  double first_step = 1;          // > 0; eta_0
  std::int64_t candidates = 6;    // 1 to 1e4; max_it
  double shrink = 0.8;            // in (0, 1); beta
  double decrease = 0.5;          // in (0, 1); a, of the Armijo condition
  std::int64_t reset_every = 10;  // >= 1; tau
  double reset_factor = 1.2;      // >= 1

  BudgetGrowth growth = CheckAngles{};
  double trusted = 2;  // >= 1; 1e300: no gradient is, as in the paper
  // DP-BLSGD-AC: of both bounds, after a step that raised the gradient's budget.
  std::optional<BoundDecay> decay{};
  double ridge = 0.001;         // >= 0; adds ridge/2 |w|^2 to the mean loss
  AverageOptions average{};     // not `half`: the number of steps is not known
  std::vector<double> start{};  // where it begins, one number per parameter; empty: at zero
};

// DP-BLSGD, DP-BLSGD-AC and DP-BLGD: gradient descent that picks its own steps and budgets. [Chen20, Alg.
// 1-3]
//
//   g     = noisy mean gradient + ridge w
//   eta   = the first of first_step shrink^i, i < candidates, with F(w) - F(w - eta g) >= decrease eta |g|^2
//           by a noisy comparison (NoisyBTLS); if none, the budgets grow, g is drawn again, and the next
//           search goes on with the steps below
//   w     = w - eta g
//
// Poisson batches and CheckAngles make it DP-BLSGD, full batches and RaiseGradient DP-BLGD.
//
// Trusted     if no candidate will do, budgets grow only if the gradient may be to blame: if its squared
//             length is less than `trusted` times what its noise alone would have, both of which are known.
//             Otherwise the step after the smallest candidate is taken. The paper's budgets always grow; at a
//             kink of a hinge loss, or where rows are beyond the loss bound and no search sees them, all of
//             epsilon 1.6 then went into a few ever better gradients, and the result was the majority class,
//             worse than at epsilon 0.4.
// Retries     the paper's begin with first_step again, and never end if that is too large for the curvature:
//             no budget helps then. Every step begins with first_step.
// Guarantee   all it knows are the oracle's answers, which the budget's filter has granted, so it may choose
//             budgets, bounds and steps by them. Each query sees a fresh batch: the paper charges gradient
//             and search on one batch as if each were amplified, which under-counts.
// Scale       the search compares sums. What is public is on their scale too: margin = divisor (decrease eta
//             |g|^2 - R), R = ridge (eta <w, g> - eta^2 |g|^2 / 2) being the decrease of the ridge's term.
// Ends        with the first query that the budget refuses. What it granted within that step is lost: the
//             paper's algorithm stops there too, and less than one step's budget is left then.
// InputError if the weights overflow.
std::unique_ptr<Method> make_line_search_descent(const LineSearchOptions& options, std::size_t parameters);

// The paper's first budgets for convex models: e = epsilon / (2 * 50) for the search and e^2 / 2 for the
// gradient.
LineSearchOptions convex_line_search(double epsilon);

// The paper's settings for nets: a tenth of each step's rho for a Gaussian search, and no growth.
LineSearchOptions neural_line_search(double rho_of_step,
                                     std::int64_t candidates = LineSearchOptions{}.candidates);

// One gradient and one search of the first step, as they are charged: what a filter should expect of the run
// (make_rdp_filter's `typical`). Public.
Event line_search_event(const LineSearchOptions& options, const Sampler& sampler);

}  // namespace ration
