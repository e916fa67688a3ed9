#pragma once

#include <complex>
#include <vector>

#include "privacy/moment_table.h"
#include "ration/privacy/sampled_gaussian.h"

namespace ration {

// K(z) = log E_P[e^{z L}] of a whole plan's total loss L: the sum over steps. Convex in real z, K(0) = 0.
class PlanCumulant {
 public:
  PlanCumulant(const SampledGaussianPlan& plan, Direction direction, double max_imaginary = 0);

  double operator()(double z);
  std::complex<double> operator()(std::complex<double> z);

  // Mean and variance of the loss under the tilted law e^{z L - K(z)} P, by differences of K.
  struct Tilted {
    double mean;
    double variance;
  };
  Tilted tilted(double z);

 private:
  std::vector<MomentTable> tables_;
  std::vector<double> counts_;
  Direction direction_;
};

// The tilt z > 0 at which the integrand for delta = `delta` has its saddle, and the epsilon that the Renyi bound gives
// there (an upper estimate of the truth). [CKS20, Prop. 12] minimised over the order z + 1.
struct Saddle {
  double tilt;
  double epsilon;
};
Saddle saddle_for_delta(PlanCumulant& cumulant, double delta);
// The saddle for a given epsilon; its `epsilon` is the argument.
Saddle saddle_for_epsilon(PlanCumulant& cumulant, double epsilon);

}  // namespace ration
