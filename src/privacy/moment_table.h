#pragma once

#include <complex>
#include <cstddef>
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
  std::complex<double> log_moment(std::complex<double> s);

 private:
  void extend_to(double order);
  void add_node(double y);
  double largest_exponent(double s) const;
  double scaled_log_sum(double s, double largest) const;

  double rate_;
  double inverse_noise_;
  double step_;
  double next_node_;
  double last_node_;
  std::vector<double> loss_;             // log r
  std::vector<double> log_weight_;       // -y^2/2
  std::vector<double> weight_;           // e^{-y^2/2}
  std::vector<double> excess_;           // r - 1
  std::vector<double> weighted_excess_;  // (r - 1) e^{-y^2/2}, finite where r is not
};

// K(z) = log E_P[e^{z L}] of one step, for the direction's pair (P, Q).
double loss_cumulant(MomentTable& table, Direction direction, double z);
std::complex<double> loss_cumulant(MomentTable& table, Direction direction, std::complex<double> z);

}  // namespace ration
