#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "ration/objectives/objective.h"

namespace ration::e2 {

// The setting of [Hong22, App. D].
constexpr double kDelta = 1e-8;
constexpr double kEpsilon = 4;
constexpr double kLearningRate = 0.1;
constexpr double kClip = 4;

// rho = .1963, the largest within (4, 1e-8) by the paper's conversion.
double total_rho();

// The multiple of the shape with sum of 1 / (2 s_t^2) = rho.
std::vector<double> scaled_onto_rho(std::span<const double> shape, double rho);

// One private run on the rows of the objective: full batch, clipped by `abadi` at 4, gradients of the public
// mean over all rows, noise as given, charged to a zCDP filter of rho. Returns the loss of the last iterate
// on the same rows, exactly, which only an experiment may look at. The same seed draws the same noise up to
// the multipliers. InternalError if the filter refuses a step.
double private_final_loss(Objective& objective, std::span<const double> noise, double momentum,
                          std::uint64_t seed);

// As an estimate of the influence needs it: the mean over several seeds, as a function of the multipliers; a
// negative one turns the sign of its noise. No budget and no oracle: for public rows. As noisy as a private
// run on as many rows.
class PublicRuns {
 public:
  PublicRuns(Objective& objective, std::size_t steps, double momentum, std::size_t runs);
  double operator()(std::span<const double> noise);

 private:
  double one_run(std::span<const double> noise, std::size_t run);

  Objective& objective_;
  std::size_t steps_;
  double momentum_;
  std::size_t runs_;
  std::vector<double> draws_;
};

}  // namespace ration::e2
