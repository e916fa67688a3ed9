#include "base/numeric.h"

#include <algorithm>
#include <boost/math/special_functions/erf.hpp>
#include <boost/math/special_functions/gamma.hpp>
#include <cmath>
#include <limits>
#include <numbers>

namespace ration {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kSqrt2 = std::numbers::sqrt2;
constexpr double kLogSqrt2Pi = 0.918938533204672741780329736405617640;
constexpr double kSqrt2Pi = 2.506628274631000502415765284811045253;

// Below this the continued fraction of Mills' ratio needs too many terms and erfc loses nothing.
constexpr double kContinuedFractionFrom = 2.0;

// log Gamma(x+1) minus Stirling's (x + 1/2) log x - x + log sqrt(2 pi).
double stirling_error(double x) {
  if (x < 15) return boost::math::lgamma(x + 1) - ((x + 0.5) * std::log(x) - x + kLogSqrt2Pi);
  const double y = 1 / (x * x);
  const double series = 1 / 1188. - y * 691 / 360360;
  return (1 / 12. - y * (1 / 360. - y * (1 / 1260. - y * (1 / 1680. - y * series)))) / x;
}

// k/(x + (k+1)/(x + (k+2)/(x + ...))) for k = 1 is Laplace's tail: R(x) = 1/(x + tail(1)). Backward from a
// depth that leaves an error below one ulp for x >= 2.
double laplace_tail(double x, int first) {
  const int depth = 16 + static_cast<int>(400 / (x * x));
  double tail = 0;
  for (int k = first + depth; k >= first; --k) tail = k / (x + tail);
  return tail;
}

}  // namespace

double log_add_exp(double a, double b) {
  const double high = std::max(a, b);
  if (std::isinf(high)) return high;
  return high + std::log1p(std::exp(std::min(a, b) - high));
}

double log_sub_exp(double a, double b) {
  if (b == -kInfinity) return a;
  return a + log1m_exp(b - a);
}

double log1m_exp(double x) {
  // Each branch keeps the argument of the outer logarithm away from the cancelling end.
  return x > -std::numbers::ln2 ? std::log(-std::expm1(x)) : std::log1p(-std::exp(x));
}

double log_binomial(double n, double k) {
  if (k > n - k) k = n - k;
  if (k <= 0) return 0;
  // Stirling's leading terms are combined by hand, so that what remains is a sum of positive terms of the
  // size of the result and three small corrections.
  const double entropy = k * std::log(n / k) - (n - k) * std::log1p(-k / n);
  const double scale = 0.5 * (std::log(n / (n - k)) - std::log(k)) - kLogSqrt2Pi;
  return entropy + scale + (stirling_error(n) - stirling_error(k) - stirling_error(n - k));
}

double normal_pdf(double x) {
  return std::exp(log_normal_pdf(x));
}

double log_normal_pdf(double x) {
  return -0.5 * x * x - kLogSqrt2Pi;
}

double normal_cdf(double x) {
  if (x < -39) return 0;
  if (x > 39) return 1;
  return 0.5 * boost::math::erfc(-x / kSqrt2);
}

double log_normal_cdf(double x) {
  if (x > 0) return std::log1p(-normal_cdf(-x));
  return x > -kContinuedFractionFrom ? std::log(normal_cdf(x))
                                     : log_normal_pdf(x) + std::log(mills_ratio(-x));
}

double mills_ratio(double x) {
  if (x < -38) return kInfinity;
  if (x < kContinuedFractionFrom) return normal_cdf(-x) * std::exp(0.5 * x * x) * kSqrt2Pi;
  return 1 / (x + laplace_tail(x, 1));
}

double mills_ratio_slope(double x) {
  if (x < kContinuedFractionFrom) return 1 - x * mills_ratio(x);
  // 1 - xR = R (1/R - x), and 1/R - x is the tail itself.
  const double tail = laplace_tail(x, 1);
  return tail / (x + tail);
}

}  // namespace ration
