#include "privacy/zcdp.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.h"
#include "base/root.h"

// One variable for all: t = a - 1 > 0, and L = ln(1/delta). The bound of the order 1 + t is
//   epsilon(t) = N(t) / t,   N(t) = rho t (1 + t) + t ln(t/(1+t)) - ln(1+t) + L.
// N'(t) = rho (1 + 2t) + ln(t/(1+t)) and N''(t) = 2 rho + 1/t - 1/(1+t) > 0, so N is convex and N/t is
// quasi-convex: a stationary point is the minimum. It satisfies t N' = N, which simplifies to
//   rho t^2 + ln(1 + t) = L,                                                              (*)
// an equation whose left side increases from 0 to infinity: exactly one root, and no minimisation is needed.
// At the root epsilon = N'(t).

namespace ration {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kUlp = std::numeric_limits<double>::epsilon();
constexpr double kLargest = 1e300;

double require_log_inverse(double delta) {
  return -std::log(require("zCDP", "delta", delta, greater_than(0).less_than(1)));
}

// The root of (*). Both terms are at most L/2 at the lower end; one of them is L at the upper end.
double best_order_minus_one(double rho, double log_inverse) {
  const double high = std::min({std::sqrt(log_inverse / rho), std::expm1(log_inverse), kLargest});
  const double low = std::min({std::sqrt(log_inverse / 2 / rho), std::expm1(log_inverse / 2), kLargest / 2});
  const auto excess = [&](double log_t) {
    const double t = std::exp(log_t);
    return rho * t * t + std::log1p(t) - log_inverse;
  };
  // The widening absorbs the rounding of the ends.
  const double log_low = std::log(low) - 1e-9, log_high = std::log(high) + 1e-9;
  if (excess(log_high) <= 0) return high;
  return std::exp(enclose_root(excess, log_low, log_high).first);
}

// epsilon(t) and an upper bound on its rounding error.
double epsilon_of_order(double rho, double t, double log_inverse) {
  const double gain = std::log1p(1 / t);
  const double rest = log_inverse - std::log1p(t);
  const double error = 4 * kUlp * (rho * (1 + t) + gain + (log_inverse + std::log1p(t)) / t);
  return rho * (1 + t) - gain + rest / t + error;
}

}  // namespace

double zcdp_epsilon_classic(double rho, double delta) {
  require("zCDP", "rho", rho, at_least(0));
  return rho + 2 * std::sqrt(rho * require_log_inverse(delta));
}

double zcdp_epsilon(double rho, double delta) {
  require("zCDP", "rho", rho, at_least(0));
  const double log_inverse = require_log_inverse(delta);
  if (rho == 0) return 0;
  const double t = best_order_minus_one(rho, log_inverse);
  return std::max(0.0, epsilon_of_order(rho, t, log_inverse));
}

double zcdp_delta_classic(double rho, double epsilon) {
  require("zCDP", "rho", rho, at_least(0));
  require("zCDP", "epsilon", epsilon, at_least(0));
  if (rho == 0) return 0;
  const double gap = std::max(0.0, epsilon - rho);
  return std::exp(-gap / rho * gap / 4);
}

// ln delta(t) = N(t) - L - t epsilon is convex with derivative N'(t) - epsilon, which increases from
// -infinity to infinity.
double zcdp_log_delta(double rho, double epsilon) {
  require("zCDP", "rho", rho, at_least(0));
  require("zCDP", "epsilon", epsilon, at_least(0));
  if (rho == 0) return -kInfinity;
  const auto slope = [&](double log_t) {
    const double t = std::exp(log_t);
    return rho * (1 + 2 * t) - std::log1p(1 / t) - epsilon;
  };
  const double low = -700;
  if (slope(low) >= 0) return 0;  // the minimum lies at the order 1: delta = 1 to the last bit
  double high = 0;
  while (slope(high) < 0) high += 1 + high;
  const double t = std::exp(enclose_root(slope, low, high).first);
  // t (rho (1+t) - epsilon) with one rounding where the two are close.
  const double drift = t * std::fma(rho, 1 + t, -epsilon);
  const double gain = t * std::log1p(1 / t) + std::log1p(t);
  const double error = 4 * kUlp * (t * (rho * (1 + t) + epsilon) + gain);
  return std::min(0.0, drift - gain + error);
}

double zcdp_delta(double rho, double epsilon) {
  const double log_delta = zcdp_log_delta(rho, epsilon);
  return std::min(1.0, std::exp(log_delta) * (1 + 4 * kUlp));
}

double zcdp_rho_classic(double epsilon, double delta) {
  require("zCDP", "epsilon", epsilon, at_least(0));
  const double log_inverse = require_log_inverse(delta);
  const double root = epsilon / (std::sqrt(log_inverse + epsilon) + std::sqrt(log_inverse));
  return root * root;
}

// Solving epsilon(t) = epsilon for rho gives, for every t, a rho that is within the budget by the order 1 +
// t:
//   rho(t) = (epsilon + ln(1 + 1/t) - (L - ln(1+t))/t) / (1 + t),
// and the largest is the one whose t is best for it. Along (*), rho = (L - ln(1+t))/t^2 falls as t grows, and
// epsilon = N'(t) grows with rho (d epsilon/d rho = 1 + t), so epsilon - N'(t) has one root.
double zcdp_rho(double epsilon, double delta) {
  require("zCDP", "epsilon", epsilon, at_least(0));
  const double log_inverse = require_log_inverse(delta);
  // ln of N'(t) + ln(1+1/t) minus ln of epsilon + ln(1+1/t): the same root, on a scale a solver can follow.
  const auto excess = [&](double log_t) {
    const double t = std::exp(log_t);
    const double left = std::max(log_inverse - std::log1p(t), 1e-300);
    return std::log(left) + std::log(1 / t + 2) - log_t - std::log(epsilon + std::log1p(1 / t));
  };
  const double high = std::log(std::min(std::expm1(log_inverse), kLargest));
  double step = 1;
  while (excess(high - step) < 0) step *= 2;
  const double t = std::exp(enclose_root(excess, high - step, high).first);
  double rho = (epsilon + std::log1p(1 / t) - (log_inverse - std::log1p(t)) / t) / (1 + t);
  // zcdp_epsilon is rounded up, so that the last ulps of rho may not fit; the loop ends because each turn
  // doubles.
  for (double shrink = kUlp; rho > 0 && zcdp_epsilon(rho, delta) > epsilon; shrink *= 2) rho *= 1 - shrink;
  return std::max(0.0, rho);
}

}  // namespace ration
