#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace ration {

// How much the noise of each step counts in the end: the final loss is about c + sum of q_t s_t^2, s_t the
// noise multiplier of step t, and q_t its influence. noise_for_influence(q) is then the best shape. [Hong22,
// Sec. 4.1]
//
// Estimates come from PUBLIC rows, or from knowledge of the problem: an influence measured on private rows is
// a release that nobody charged. This folder sees no rows: who has them hands in the final loss as a
// function.

// The final loss of a run with these noise multipliers. It may be random, but it is better to draw the noise
// once and scale it in every call (common random numbers): the differences between calls are then due to the
// multipliers alone. A negative entry asks for the same noise with its sign turned, which is as likely.
using FinalLoss = std::function<double(std::span<const double> noise)>;

struct RetrainingOptions {
  std::vector<double> factors = {0.5, 1,
                                 2};  // each > 0, at least two that differ: s_t is tried at these multiples
  std::int64_t most_steps =
      32;  // >= 2: steps that are tried, evenly spread; the logarithm of q is interpolated between
};

// By retraining: s_t is varied with the others fixed, and the loss fitted by c2 s_t^2 + c0, by least squares;
// q_t = c2. [Hong22, App. D]
//
// Mirroring   each s_t is tried with both signs, which cancels what is odd in the noise of step t, first of
//             all its product with the noise of the other steps. With common random numbers one run in place
//             of many then often does.
// Edge cases  an estimate can come out at 0 or below, where the noise is forgotten or the estimate poor: such
//             values are raised to 1e-6 of the largest, so that a shape exists. InputError if the largest is
//             not above 0, or a loss is not finite.
std::vector<double> influence_by_retraining(const FinalLoss& final_loss, std::span<const double> noise,
                                            const RetrainingOptions& options = {});

// What decides the influence on a quadratic loss, besides its Hessian.
struct QuadraticRun {
  double learning_rate = 0.1;  // > 0
  double momentum = 0;         // in [0, 1): of the step rule `momentum`; 0 is plain gradient descent
  double noise_unit = 1;       // > 0: standard deviation of a gradient's coordinate at noise multiplier 1
};

// Exactly, for a quadratic loss with these eigenvalues h >= 0 of its Hessian, as the squared loss is while no
// gradient is clipped: the sum over h of h r_t^2 / 2 times noise_unit^2, r_t what a unit of noise in step t
// has become in the last iterate along an eigenvector. Without momentum r_t = -learning_rate (1 -
// learning_rate h)^(T - t).
// Edge cases  values below 1e-6 of the largest are raised to that, as above: with learning_rate h = 1 a step
//             forgets everything.
std::vector<double> influence_on_quadratic(std::span<const double> eigenvalues, std::int64_t steps,
                                           const QuadraticRun& run);

// q_t ~ scale * gamma^(T - t).
struct ExponentialInfluence {
  double scale = 1;
  double gamma = 1;  // > 0; below 1 where early noise is forgotten, and then fit for InfluenceNoise
};

// Least squares in log q_t, weighted by sqrt(q_t), the share of the budget that step t gets: an early step
// whose influence is tiny counts little here because it counts little in the end. At least one q_t, all > 0;
// gamma is 1 if there is only one.
ExponentialInfluence fit_exponential(std::span<const double> influence);

}  // namespace ration
