#include "privacy/gdp.h"

#include <algorithm>
#include <boost/math/quadrature/gauss.hpp>
#include <boost/math/special_functions/erf.hpp>
#include <cmath>
#include <limits>
#include <numbers>

#include "base/check.h"
#include "base/numeric.h"
#include "base/root.h"

namespace ration {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// R(x) - R(x + mu) for Mills' ratio R, which is a decreasing function.
//
// The direct difference cancels when the two are close; the integral of the slope has only positive terms. On
// an interval of length <= 1, or one that ends before 3x, 20 Gauss-Legendre nodes are exact to an ulp; beyond
// it R(x + mu) is at most about half of R(x) and the difference is harmless.
double mills_ratio_drop(double x, double mu) {
  if (mu > 1 && mu > 2 * x) return mills_ratio(x) - mills_ratio(x + mu);
  // From 0, because the length of [x, x + mu] is rounded where mu is far below x.
  return boost::math::quadrature::gauss<double, 20>::integrate(
      [&](double t) { return mills_ratio_slope(x + t); }, 0.0, mu);
}

// With x = epsilon/mu - mu/2 we have e^epsilon phi(x + mu) = phi(x), hence
//   delta = phi(x) (R(x) - R(x + mu))           and, for x < 0,       1 - delta = Phi(x) + phi(x) R(x + mu):
// no exponential of epsilon is ever formed. fma keeps x accurate to an ulp where epsilon is close to mu^2/2.
struct Standardised {
  double x;
  double x_plus_mu;
};

Standardised standardise(double mu, double epsilon) {
  return {std::fma(-0.5 * mu, mu, epsilon) / mu, std::fma(0.5 * mu, mu, epsilon) / mu};
}

bool is_near_one(double x, double mu) {
  return x < 0 && mu > 1;
}

double complement(double x, double x_plus_mu) {
  return normal_cdf(x) + normal_pdf(x) * mills_ratio(x_plus_mu);
}

void require_curve(double mu, double epsilon) {
  require("gdp", "mu", mu, at_least(0));
  require("gdp", "epsilon", epsilon, at_least(0));
}

// What the inverses aim at: below log(delta) by a bound on the evaluation's error.
double safe_log(double delta) {
  const double log_delta = std::log(delta);
  return log_delta - 2e-14 * (1 - log_delta);
}

void require_target(const char* where, double delta) {
  require(where, "delta", delta, greater_than(0).less_than(1));
}

}  // namespace

double gdp_log_delta(double mu, double epsilon) {
  require_curve(mu, epsilon);
  if (mu == 0) return -kInfinity;
  const auto [x, x_plus_mu] = standardise(mu, epsilon);
  if (is_near_one(x, mu)) return std::log1p(-complement(x, x_plus_mu));
  return log_normal_pdf(x) + std::log(mills_ratio_drop(x, mu));
}

double gdp_delta(double mu, double epsilon) {
  require_curve(mu, epsilon);
  if (mu == 0) return 0;
  const auto [x, x_plus_mu] = standardise(mu, epsilon);
  return is_near_one(x, mu) ? 1 - complement(x, x_plus_mu) : normal_pdf(x) * mills_ratio_drop(x, mu);
}

double gdp_epsilon(double mu, double delta) {
  require_target("gdp", delta);
  const double target = safe_log(delta);
  const auto excess = [&](double epsilon) { return gdp_log_delta(mu, epsilon) - target; };
  if (excess(0) <= 0) return 0;
  // The concentrated-DP bound of the same mechanism [BunSteinke16, Prop. 1.3], which has slack.
  const double bound = 0.5 * mu * mu + mu * std::sqrt(-2 * std::log(delta));
  return enclose_root(excess, 0, bound * (1 + 1e-9)).second;
}

double gdp_mu(double epsilon, double delta) {
  require("gdp", "epsilon", epsilon, at_least(0));
  require_target("gdp", delta);
  const double target = safe_log(delta);
  const auto excess = [&](double mu) { return gdp_log_delta(mu, epsilon) - target; };
  // Two lower bounds: concentrated DP's, and delta(epsilon) <= delta(0) <= mu / sqrt(2 pi).
  const double log_inverse = -std::log(delta);
  const double concentrated =
      std::numbers::sqrt2 * epsilon / (std::sqrt(log_inverse + epsilon) + std::sqrt(log_inverse));
  const double low = std::max(concentrated, delta);
  double high = 2 * low;
  while (excess(high) <= 0) high *= 2;
  return enclose_root(excess, low, high).first;
}

double gaussian_delta(double noise, double epsilon) {
  return std::exp(gaussian_log_delta(noise, epsilon));
}

double gaussian_log_delta(double noise, double epsilon) {
  require("Gaussian", "noise", noise, greater_than(0));
  return gdp_log_delta(1 / noise, epsilon);
}

double gaussian_epsilon(double noise, double delta) {
  require("Gaussian", "noise", noise, greater_than(0));
  // The ulp covers the rounding of 1/noise.
  return gdp_epsilon((1 / noise) * (1 + std::numeric_limits<double>::epsilon()), delta);
}

double gaussian_noise(double epsilon, double delta) {
  return (1 / gdp_mu(epsilon, delta)) * (1 + 2 * std::numeric_limits<double>::epsilon());
}

double gdp_clt_mu_poisson(double rate, double noise, double steps) {
  require("central limit theorem", "rate", rate, at_least(0).at_most(1));
  require("central limit theorem", "noise", noise, greater_than(0));
  require("central limit theorem", "steps", steps, at_least(0));
  if (rate == 0 || steps == 0) return 0;
  return rate * std::sqrt(steps) * std::sqrt(std::expm1(1 / (noise * noise)));
}

double gdp_clt_mu_fixed_size(double rate, double noise, double steps) {
  require("central limit theorem", "rate", rate, at_least(0).at_most(1));
  require("central limit theorem", "noise", noise, greater_than(0));
  require("central limit theorem", "steps", steps, at_least(0));
  if (rate == 0 || steps == 0) return 0;
  // The formula regrouped around its leading terms, which cancel for large noise; half_erf(x) = Phi(x) - 1/2.
  const double mu = 1 / noise;
  const auto half_erf = [](double x) { return 0.5 * boost::math::erf(x / std::numbers::sqrt2); };
  const double bracket =
      std::expm1(mu * mu) * normal_cdf(1.5 * mu) + (half_erf(1.5 * mu) - 3 * half_erf(0.5 * mu));
  return rate * std::sqrt(2 * steps) * std::sqrt(bracket);
}

}  // namespace ration
