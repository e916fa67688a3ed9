#pragma once

#include <complex>
#include <limits>
#include <vector>

#include "privacy/moment_table.h"
#include "privacy/sampled_gaussian.h"

namespace ration {

// K(z) = log E_P[e^{z L}] of a whole plan's total loss L: the sum over steps. Convex in real z, K(0) = 0.
//
// With small rates an output of probability 1e-200 can carry so large a loss that it dominates the moment at
// a useful z, though delta is 1e-8 and it cannot matter. `log_lost` cuts off, in each step, outputs of that
// log-probability; what is cut off has to be charged to delta by the caller.
class PlanCumulant {
 public:
  struct Limits {
    double imaginary = 0;                                        // the largest |Im z| that will be asked
    double log_lost = -std::numeric_limits<double>::infinity();  // < 0, per step
  };
  PlanCumulant(const SampledGaussianPlan& plan, Direction direction, const Limits& limits);
  PlanCumulant(const SampledGaussianPlan& plan, Direction direction)
      : PlanCumulant(plan, direction, Limits{}) {}

  double operator()(double z);
  // The same, rounded up.
  double upper(double z);
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

// Whether no sampled step has so little noise (below .002) that its table, which has to resolve a jump by a
// factor of e^{1/noise^2}, would not fit into memory.
bool can_be_tabulated(const SampledGaussianPlan& plan);

// The tilt z > 0 at which the integrand for delta = `delta` has its saddle, and the epsilon that the Renyi
// bound gives there, rounded up; +infinity where it is not known. [CKS20, Prop. 12] minimised over the order
// z + 1.
struct Saddle {
  double tilt;
  double epsilon;
};
Saddle saddle_for_delta(PlanCumulant& cumulant, double delta);
// The saddle for a given epsilon; its `epsilon` is the argument.
Saddle saddle_for_epsilon(PlanCumulant& cumulant, double epsilon);

}  // namespace ration
