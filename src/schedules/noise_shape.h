#pragma once

#include <cstdint>
#include <span>
#include <variant>
#include <vector>

namespace ration {

// How the noise changes over a run, without its size: step t has noise s * shape[t], and whoever plans the
// run finds the s at which the accountant lands on the budget. So a shape costs nothing and promises nothing;
// it only says when the budget is spent. Steps count from t = 1 to T.

// The same noise in every step.
struct UniformNoise {};

// e^(-rate t). [Yu19, Sec. 4]
struct ExponentialNoise {
  double rate = 0.01;  // >= 0
};

// factor^floor(t / every). [Yu19]
struct StepNoise {
  std::int64_t every = 10;  // >= 1
  double factor = 0.9;      // in (0, 1]
};

// 1 / (1 + rate t). [Yu19]
struct TimeNoise {
  double rate = 0.01;  // >= 0
};

// (1 - end) (1 - t / T)^power + end. [Yu19]
struct PolynomialNoise {
  double end = 0.5;  // in (0, 1]: the noise of the last step over that of the first
  double power = 1;  // > 0
};

// The noise of step t reaches the end of a run damped by gamma^(T - t), gamma = 1 - 1 / kappa, kappa the
// condition number of the objective: early noise is forgotten, so the budget is best spent late. q_t =
// gamma^(T - t) in Lemma 4.1. [Hong22, Thm 4.1]
struct InfluenceNoise {
  double gamma = 0.97;  // in (0, 1)
};

// The same for gradient descent with momentum, whose average remembers early noise:
//   q_t = 2 gamma^(T + t - 1)                                                  for t <= T^
//   q_t = gamma^(2 (T^ - 1)) (gamma^(T + 1 - t) - beta^(2 (T + 1 - t)))        for t > T^
// both over gamma - beta^2, T^ the largest t with gamma^(t - 1) >= (1 - beta) / (1 - beta^t). The noise rises
// up to T^ and falls afterwards. [Hong22, Thm 4.6, and its proof for the constants]
struct MomentumInfluenceNoise {
  double gamma = 0.97;  // in (0, 1)
  double beta = 0.9;    // in [0, 1), beta^2 < gamma
};

using NoiseShape = std::variant<UniformNoise, ExponentialNoise, StepNoise, TimeNoise, PolynomialNoise,
                                InfluenceNoise, MomentumInfluenceNoise>;

// One entry > 0 per step. Throws InputError unless the inequalities hold, steps is in 1 ... 1e8, and no entry
// underflows.
std::vector<double> relative_noise(const NoiseShape& shape, std::int64_t steps);

// The shape that loses least to noise if the variance of step t's noise counts q_t > 0 times in the end:
// variance proportional to 1 / sqrt(q_t). Among all shapes of equal cost (sum of 1 / variance) no other has a
// smaller sum of q_t times variance, which is (sum of sqrt(q_t))^2 over that cost. [Hong22, Lemma 4.1:
// Cauchy-Schwarz]
std::vector<double> noise_for_influence(std::span<const double> influence);

// T^ of MomentumInfluenceNoise; at least 1.
std::int64_t momentum_turning_point(double gamma, double beta);

}  // namespace ration
