#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace ration {

// `count` steps of the Gaussian mechanism, each on a fresh Poisson sample of rate `rate` (1 is the full batch).
// `noise` is the noise multiplier: standard deviation over L2 sensitivity. A plan is a list of such runs.
struct SampledGaussian {
  double rate;             // 0 < rate <= 1
  double noise;            // > 0
  std::int64_t count = 1;  // >= 0
};

// add_remove has two worst-case pairs of outputs, and a guarantee is the larger of both. With
// N0 = N(0, noise^2) and N1 = N(1, noise^2):
//   remove: P = (1 - rate) N0 + rate N1 against Q = N0,
//   add:    P = N0 against Q = (1 - rate) N0 + rate N1.    [Mironov19, Zhu22]
enum class Direction { remove, add };

using SampledGaussianPlan = std::vector<SampledGaussian>;

// The plan that accounting works on: validated; full-batch steps merged into one Gaussian, because mu-GDP composes by
// summing mu^2 exactly [Dong22, Cor. 3.3]; equal steps merged; empty runs dropped.
SampledGaussianPlan normalised(std::span<const SampledGaussian> plan);

// delta of one step in closed form: the loss is monotone in the output, so the set {loss > epsilon} is a half-line.
double single_step_delta(const SampledGaussian& step, Direction direction, double epsilon);

}  // namespace ration
