#pragma once

#include <algorithm>
#include <boost/math/quadrature/tanh_sinh.hpp>
#include <boost/math/special_functions/erf.hpp>
#include <boost/multiprecision/cpp_bin_float.hpp>
#include <cmath>
#include <utility>
#include <vector>

// The truth, to 60 digits: what accounting computes in doubles, by the plainest formula or the plainest
// quadrature, over ranges that are wider than anything needs. For comparison only.
namespace ration::testing {

using Real =
    boost::multiprecision::number<boost::multiprecision::cpp_bin_float<60>, boost::multiprecision::et_off>;

// log of the sum of e^{exponents}.
inline Real log_sum(const std::vector<Real>& exponents) {
  const Real largest = *std::max_element(exponents.begin(), exponents.end());
  Real sum = 0;
  for (const Real& exponent : exponents) {
    if (exponent > largest - 200) sum += exp(exponent - largest);
  }
  return largest + log(sum);
}

// The trapezoidal rule's terms for the integral of e^{f} over an interval, as logarithms; f's bells lie well
// inside.
template <class Function>
std::vector<Real> exponents_on(double low, double high, double step, Function f) {
  std::vector<Real> exponents;
  const Real log_step = log(Real(step));
  for (double k = std::floor(low / step); k * step <= high; ++k) {
    exponents.push_back(f(Real(k) * step) + log_step);
  }
  return exponents;
}

inline Real log_sqrt_2pi() {
  return log(2 * boost::math::constants::pi<Real>()) / 2;
}

inline Real normal_tail(const Real& x) {
  return boost::math::erfc(x / sqrt(Real(2))) / 2;
}

// log E[(e^u - 1)^l], u = (y - 1/(2 noise)) / noise. Below l / noise - 20 or above sqrt(l) + 20 there is
// nothing of the right bell, and of the left one nothing beyond -sqrt(l) - 20: both are at least as narrow as
// the normal density, with their modes in [l/noise, l/noise + sqrt(l)] and [-sqrt(l), 0].
inline Real true_log_central_moment(double noise, int l) {
  const Real mu = 1 / Real(noise);
  const auto exponent = [&](const Real& y) -> Real {
    const Real u = mu * (y - mu / 2);
    const Real size = u > 200 ? exp(u) : abs(exp(u) - 1);
    if (size == 0) return Real(-1e9);
    return l * log(size) - y * y / 2 - log_sqrt_2pi();
  };
  const double root = std::sqrt(l) + 20, far = l / noise;
  if (far < root + 40) return log_sum(exponents_on(-root, far + root, 0.125, exponent));
  std::vector<Real> both = exponents_on(-root, root, 0.125, exponent);
  const std::vector<Real> right = exponents_on(far - 20, far + root, 0.125, exponent);
  both.insert(both.end(), right.begin(), right.end());
  return log_sum(both);
}

// log E[r^s], r = 1 - rate + rate e^u, any real s. The bells lie between s / noise and 0.
inline Real true_log_moment(double rate, double noise, double s) {
  const Real mu = 1 / Real(noise), q = rate, order = s;
  const double step = std::min(0.0625, 0.1 * noise);
  const double low = std::min(0.0, s / noise) - 20, high = std::max(0.0, s / noise) + 20;
  return log_sum(exponents_on(low, high, step, [&](const Real& y) -> Real {
    return order * log(1 - q + q * exp(mu * (y - mu / 2))) - y * y / 2 - log_sqrt_2pi();
  }));
}

// The Renyi divergence of (1 - rate) N(0) + rate N(1) from N(0), order an integer: the binomial sum.
inline Real true_sampled_divergence(double rate, double noise, int order) {
  const Real mu = 1 / Real(noise), q = rate;
  Real log_binomial = 0;
  std::vector<Real> terms;
  for (int k = 0; k <= order; ++k) {
    terms.push_back(log_binomial + (order - k) * log(1 - q) + k * log(q) + Real(k) * (k - 1) / 2 * mu * mu);
    log_binomial += log(Real(order - k) / (k + 1) + (k == order ? 1 : 0));
  }
  return log_sum(terms) / (order - 1);
}

// The tail over the density, for x from 1e4 on, where ten terms of its series have 60 digits.
inline Real far_mills_ratio(const Real& x) {
  Real term = 1 / x, sum = term;
  for (int k = 1; k < 10; ++k) sum += term *= -(2 * k - 1) / (x * x);
  return sum;
}

// delta(epsilon) of N(mu) against N(0), epsilon of any sign. [Balle18, Thm 8] Where e^epsilon would overflow,
// e^epsilon phi(above) = phi(below) is used, and above >= sqrt(2 epsilon) > 1e4.
inline Real true_gaussian_delta(const Real& mu, const Real& epsilon) {
  const Real below = epsilon / mu - mu / 2, above = epsilon / mu + mu / 2;
  const Real scaled = epsilon < 1e8 ? Real(exp(epsilon) * normal_tail(above))
                                    : Real(exp(-below * below / 2 - log_sqrt_2pi()) * far_mills_ratio(above));
  return normal_tail(below) - scaled;
}

// delta(epsilon) of one sampled step, epsilon of any sign: where the loss passes epsilon the common part of
// both laws cancels (sampled_gaussian.h).
inline Real true_remove_delta(double rate, double noise, const Real& epsilon) {
  const Real q = rate, ratio = (exp(epsilon) - (1 - q)) / q;
  if (ratio <= 0) return 1 - exp(epsilon);
  return q * true_gaussian_delta(1 / Real(noise), log(ratio));
}
inline Real true_add_delta(double rate, double noise, const Real& epsilon) {
  const Real q = rate, ratio = (exp(-epsilon) - (1 - q)) / q;
  if (ratio <= 0) return 0;
  const Real v = -log(ratio);
  return q * exp(epsilon - v) * true_gaussian_delta(1 / Real(noise), v);
}
inline Real true_step_delta(double rate, double noise, double epsilon) {
  return std::max<Real>(true_remove_delta(rate, noise, epsilon), true_add_delta(rate, noise, epsilon));
}

// delta(epsilon) of two sampled steps: the mean over the first one's outputs of the second one's delta at
// what is left of epsilon. First outputs that would add far less than `delta` are left out, so it is a lower
// bound. Where what is left passes the second loss's end, log(1 - rate), the integrand turns within about
// rate * noise, which no grid of fixed steps resolves: the pieces meet there, and the nodes crowd at their
// ends.
inline Real true_delta_of_two(double rate, double noise, bool removes, double epsilon, double delta) {
  const Real mu = 1 / Real(noise), q = rate;
  const Real reach = sqrt(Real(2 * (50 - std::log(delta))));
  const auto integrand = [&](const Real& y) -> Real {
    const Real ratio = 1 - q + q * exp(mu * (y - mu / 2));
    const Real density = exp(-y * y / 2 - log_sqrt_2pi()) * (removes ? ratio : Real(1));
    const Real left = removes ? epsilon - log(ratio) : epsilon + log(ratio);
    return density * (removes ? true_remove_delta(rate, noise, left) : true_add_delta(rate, noise, left));
  };
  std::vector<Real> ends{mu + reach};
  for (Real y = -reach; y < mu + reach; y += std::min(3.0, 6 * noise)) ends.push_back(y);
  const Real turn = (exp(Real(removes ? epsilon : -epsilon)) / (1 - q) - (1 - q)) / q;
  if (turn > 0) ends.push_back(std::clamp<Real>(mu / 2 + log(turn) / mu, -reach, mu + reach));
  std::sort(ends.begin(), ends.end());
  static boost::math::quadrature::tanh_sinh<Real> rule(9);
  const Real negligible = Real(delta) * 1e-16;
  Real total = 0;
  for (std::size_t i = 0; i + 1 < ends.size(); ++i) {
    const Real low = ends[i], high = ends[i + 1];
    if (!(low < high) || (integrand(low) < negligible && integrand((low + high) / 2) < negligible &&
                          integrand(high) < negligible)) {
      continue;
    }
    total += rule.integrate(integrand, low, high, Real(1e-10));
  }
  return total;
}

}  // namespace ration::testing
