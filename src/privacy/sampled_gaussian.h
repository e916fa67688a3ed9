#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace ration {

// `count` steps of the Gaussian mechanism, each on a fresh Poisson sample of rate `rate` (1 is the full
// batch). `noise` is the noise multiplier: standard deviation over L2 sensitivity. A plan is a list of such
// runs.
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

double total_steps(std::span<const SampledGaussian> plan);

// The plan that accounting works on: validated; full-batch steps merged into one Gaussian, because mu-GDP
// composes by summing mu^2 exactly [Dong22, Cor. 3.3]; equal steps merged; empty runs dropped.
SampledGaussianPlan normalised(std::span<const SampledGaussian> plan);

// One step in closed form. Where the loss passes epsilon the mixture's part in both laws cancels, and what is
// left is the unsampled Gaussian's curve D_mu (gdp.h), mu = 1 / noise, at another place:
//   remove: delta = rate D_mu(u),                with e^epsilon  = 1 - rate + rate e^u,
//   add:    delta = rate e^{epsilon - v} D_mu(v), with e^-epsilon = 1 - rate + rate e^-v, and 0 if there is
//   no such v.
// Relative error about 1e-14 (1 + |log delta|), also where delta or e^-epsilon underflows. `count` is
// ignored.
double single_step_delta(const SampledGaussian& step, Direction direction, double epsilon);
// The smallest epsilon >= 0 with delta(epsilon) <= delta, rounded up.
double single_step_epsilon(const SampledGaussian& step, Direction direction, double delta);

}  // namespace ration
