#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "privacy/sampled_gaussian.h"

namespace ration {

// Moments of the density ratio of one Poisson-sampled Gaussian step,
//
//   G(s) = E[r(x)^s],  r(x) = 1 - rate + rate exp((2x - 1) / (2 noise^2)),  x ~ N(0, noise^2),
//
// for real and complex s. Everything in accounting is G: the Renyi divergence of order a is log G(a) / (a -
// 1) [Mironov19, Thm 4], and the privacy loss has E_P[e^{zL}] = G(z + 1) (remove) or G(-z) (add).
//
// Method      the trapezoidal rule in y = x / noise, which converges geometrically for a function analytic in
//             a strip [Trefethen14, Thm 5.1]. The nearest singularities are the zeros of r, pi * noise off
//             the real line.
// Small rates E[r - 1] = 0 exactly, so r^s - 1 - s (r - 1) is summed instead of r^s: G - 1 is right to about
//             1e-12 relative even where it is 1e-20.
//             Close to s = 1 the factor s - 1 is taken out first.
// Step        for s > 0, |r(y + ib)| <= r(y), so for any b below pi * noise the rule's error is at most 2
//             e^{b^2/2} / (e^{2 pi b / step} - 1) of the moment. The steps taken keep that below 1e-14.
// Range       from the integrand r^s e^{-y^2/2}. Its exponent has the slope s w mu - y, with mu = 1 / noise
//             and w = rate e^u / r, which lies between 0 and 1 and rises with y.
//             s > 0: above s mu it falls at least like e^{-(y - s mu)^2/2}, and from s mu - 1 to s mu the
//             slope is at most 1. So a reach of k above s mu leaves out at most e^{(1 - k^2)/2} of the
//             moment. Below -k, where r < 1, it is at most a normal tail.
//             s < 0: the exponent is concave, its second derivative at most -1. At a reach of k on either
//             side of the mode it has fallen by k^2/2, and by concavity at most 1 / (e^{k^2/2} - 1) of the
//             moment lies beyond. For rates near 1 the mode goes down to s mu; for large |s| the bell is
//             narrow, and the step follows it.
// Cost        one exponential per node; the losses log r are tabulated once and grow with the largest order
//             asked.
// Not thread-safe (the table grows on demand).
class MomentTable {
 public:
  struct Limits {
    // The largest |Im s| that will be asked: the oscillation of r^s must be resolved.
    double imaginary = 0;
    // Outputs x / noise above this are left out of the expectation, as if they had not happened.
    double output = std::numeric_limits<double>::infinity();
  };
  MomentTable(double rate, double noise, const Limits& limits);
  MomentTable(double rate, double noise) : MomentTable(rate, noise, Limits{}) {}

  double log_moment(double s);
  // The same, rounded up: plus what the rule, its ends and floating point may have cost.
  double log_moment_upper(double s);
  std::complex<double> log_moment(std::complex<double> s);

 private:
  struct Value {
    double log_moment;
    double rounding;  // in units in the last place
  };
  // The mode of r^{-z} e^{-y^2/2} and the second derivative of its negative exponent there.
  struct Bell {
    double mode;
    double curvature;
  };
  Value evaluate(double s);
  Value excess_at(std::size_t i, double s) const;
  Bell add_bell(double z) const;
  void extend_to(double s);
  double add_step(double curvature) const;
  void start_again(double step);
  void add_node(double y);
  double largest_exponent(double s) const;
  Value scaled_log_sum(double s, double largest) const;

  double rate_;
  double inverse_noise_;
  double step_;
  double last_output_;
  double lowest_order_ = 0;  // that the left end was chosen for
  double left_end_;
  double right_end_ = 0;
  std::int64_t next_right_ = 0;  // in steps
  std::int64_t next_left_ = -1;
  std::vector<double> loss_;             // log r
  std::vector<double> log_weight_;       // -y^2/2
  std::vector<double> weight_;           // e^{-y^2/2}
  std::vector<double> excess_;           // r - 1
  std::vector<double> weighted_excess_;  // (r - 1) e^{-y^2/2}, finite where r is not
};

// K(z) = log E_P[e^{z L}] of one step, for the direction's pair (P, Q).
double loss_cumulant(MomentTable& table, Direction direction, double z);
double loss_cumulant_upper(MomentTable& table, Direction direction, double z);
std::complex<double> loss_cumulant(MomentTable& table, Direction direction, std::complex<double> z);

}  // namespace ration
