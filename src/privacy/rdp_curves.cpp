#include "privacy/rdp_curves.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.h"
#include "privacy/search_curve.h"

namespace ration {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// Exponents up to here are safe to exponentiate; beyond, the dominating term is factored out.
constexpr double kModerate = 30;

void require_order(double alpha) {
  if (alpha != kInfinity) require("RDP", "alpha", alpha, at_least(1));
}

// e^x - 1 - x >= 0 without cancellation.
double expm1_minus_x(double x) {
  if (std::abs(x) > 0.5) return std::expm1(x) - x;
  double term = x * x / 2, sum = 0;
  for (int k = 3; k <= 20; ++k) {
    sum += term;
    term *= x / k;
  }
  return sum;
}

// ln(1 + s (alpha-1)) / (alpha-1), continued to alpha = 1, where it is s.
double log1p_over_order(double s, double alpha) {
  const double excess = s * (alpha - 1);
  return excess == 0 ? s : s * (std::log1p(excess) / excess);
}

double positive(const char* mechanism, const char* name, double value) {
  return require(mechanism, name, value, greater_than(0));
}

// The Laplace curve by its pure epsilon = 1/scale.
//
// The two first-order terms of a/(2a-1) e^{e(a-1)} + (a-1)/(2a-1) e^{-ea} cancel exactly; with f(x) = e^x - 1
// - x what remains is 1 + (a f(e(a-1)) + (a-1) f(-ea))/(2a-1), a sum of positive terms.
double laplace_curve(double epsilon, double alpha) {
  if (alpha == kInfinity) return epsilon;
  const double exponent = epsilon * (alpha - 1), width = 2 * alpha - 1;
  if (exponent > kModerate) {
    const double second = std::log1p((alpha - 1) / alpha * std::exp(-width * epsilon));
    return epsilon + (std::log(alpha / width) + second) / (alpha - 1);
  }
  const double forward = alpha == 1 ? 0 : expm1_minus_x(exponent) / (alpha - 1);
  const double s = (alpha * forward + expm1_minus_x(-epsilon * alpha)) / width;
  return std::min(epsilon, log1p_over_order(s, alpha));
}

}  // namespace

double rdp_gaussian(double noise, double alpha) {
  require_order(alpha);
  positive("Gaussian", "noise", noise);
  return alpha / 2 / noise / noise;
}

double rdp_laplace(double scale, double alpha) {
  require_order(alpha);
  return laplace_curve(1 / positive("Laplace", "scale", scale), alpha);
}

double rdp_pure_quadratic(double epsilon, double alpha) {
  require_order(alpha);
  require("pure DP", "epsilon", epsilon, at_least(0));
  return epsilon == 0 ? 0 : alpha * epsilon * epsilon / 2;
}

double rdp_pure_quadratic_capped(double epsilon, double alpha) {
  return std::min(epsilon, rdp_pure_quadratic(epsilon, alpha));
}

// Randomised response: sum p^a q^{1-a} = cosh((a - 1/2) e) / cosh(e/2)
//                                     = 1 + 2 sinh((a-1)e/2) sinh(ae/2) / cosh(e/2),
// and sinh(ae/2) / cosh(e/2) = e^{(a-1)e/2} (1 - e^{-ae}) / (1 + e^{-e}), which does not overflow.
double rdp_pure(double epsilon, double alpha) {
  require_order(alpha);
  require("pure DP", "epsilon", epsilon, at_least(0));
  if (alpha == kInfinity || epsilon == 0) return epsilon;
  const double exponent = epsilon * (alpha - 1);
  if (exponent > kModerate) {
    const double shortfall =
        std::log1p(std::exp(-epsilon)) - std::log1p(std::exp(-(2 * alpha - 1) * epsilon));
    return epsilon - shortfall / (alpha - 1);
  }
  const double sinh_over_order = alpha == 1 ? epsilon / 2 : std::sinh(exponent / 2) / (alpha - 1);
  const double ratio = std::exp(exponent / 2) * -std::expm1(-alpha * epsilon) / (1 + std::exp(-epsilon));
  return std::min(epsilon, log1p_over_order(2 * sinh_over_order * ratio, alpha));
}

double rdp_bounded_range(double epsilon, double alpha) {
  return std::min(rdp_pure_quadratic(epsilon, alpha) / 4, rdp_pure(epsilon, alpha));
}

double rdp_noisy_max(double epsilon, double alpha) {
  return rdp_pure(epsilon, alpha);
}

double rdp_above_threshold_laplace(double threshold_epsilon, double query_epsilon, double alpha) {
  require_order(alpha);
  return laplace_search_curve(threshold_epsilon, query_epsilon)->rdp(alpha);
}

double rdp_above_threshold_gaussian(double threshold_noise, double query_noise, std::int64_t queries,
                                    double alpha) {
  require_order(alpha);
  return gaussian_search_curve(threshold_noise, query_noise, queries)->rdp(alpha);
}

}  // namespace ration
