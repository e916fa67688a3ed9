#include <array>
#include <cmath>
#include <numbers>

#include "base/check.h"
#include "base/distributions.h"
#include "base/geometric_gaps.h"

namespace ration {
namespace {

constexpr double kLargestTrials = 0x1p53;  // every count is a double
constexpr double kSmallMean = 10;          // the rejection method needs at least this mean

// log(n!) minus Stirling's formula without corrections; n >= 1. Below 16 by the factorial, which is exact,
// from 16 by five terms of the series, the next of which is below 1e-16.
double stirling_error(double n) {
  if (n < 16) {
    double factorial = 1;
    for (double i = 2; i <= n; ++i) factorial *= i;
    return std::log(factorial) - ((n + 0.5) * std::log(n) - n + 0.5 * std::log(2 * std::numbers::pi));
  }
  const double square = n * n;
  return (1.0 / 12 -
          (1.0 / 360 - (1.0 / 1260 - (1.0 / 1680 - 1.0 / 1188 / square) / square) / square) / square) /
         n;
}

// x log(x / mean) + mean - x, written in the relative distance so that it does not cancel near the mean.
double deviance(double x, double mean) {
  const double distance = (x - mean) / mean;
  return mean * ((1 + distance) * std::log1p(distance) - distance);
}

// Transformed rejection with a squeeze [Hormann93, algorithm BTRS] for p <= 1/2 and a mean of 10 or more. The
// probabilities it compares with are in saddle-point form [Loader00], since differences of log-factorials, as
// the paper and the standard library have them, lose all digits that matter for n beyond 1e9.
class BinomialByRejection {
 public:
  BinomialByRejection(double n, double p)
      : n_(n), p_(p), log_largest_(log_probability(std::floor((n + 1) * p))) {}

  std::uint64_t draw(RandomSource& random) const {
    for (;;) {
      const double u = uniform(random) - 0.5;
      const double v = uniform(random);
      const double edge = 0.5 - std::abs(u);
      const double k = std::floor((2 * a_ / edge + b_) * u + n_ * p_ + 0.5);
      const bool surely_accepted = edge >= 0.07 && v <= 0.92 - 4.2 / b_;
      if (surely_accepted || accepted(k, edge, v)) return static_cast<std::uint64_t>(k);
    }
  }

 private:
  bool accepted(double k, double edge, double v) const {
    if (!(k >= 0 && k <= n_)) return false;
    const double hat = a_ / (edge * edge) + b_;
    return std::log(v * alpha_ / hat) <= log_probability(k) - log_largest_;
  }

  double log_probability(double k) const {
    if (k == 0) return n_ * std::log1p(-p_);
    if (k == n_) return n_ * std::log(p_);
    const double failures = n_ - k;
    return stirling_error(n_) - stirling_error(k) - stirling_error(failures) - deviance(k, n_ * p_) -
           deviance(failures, n_ - n_ * p_) - 0.5 * std::log(2 * std::numbers::pi * k * (failures / n_));
  }

  double n_;
  double p_;
  double stddev_ = std::sqrt(n_ * p_ * (1 - p_));
  double b_ = 1.15 + 2.53 * stddev_;
  double a_ = -0.0873 + 0.0248 * b_ + 0.01 * p_;
  double alpha_ = (2.83 + 5.1 / b_) * stddev_;
  double log_largest_;
};

std::uint64_t count_successes(RandomSource& random, double n, double p) {
  GeometricGaps gaps(random, p, n);
  std::uint64_t successes = 0;
  for (double trial = gaps.next(); trial < n; trial += 1 + gaps.next()) ++successes;
  return successes;
}

}  // namespace

std::uint64_t binomial(RandomSource& random, std::uint64_t n, double p) {
  const double trials = require("binomial", "n", static_cast<double>(n), at_least(0).at_most(kLargestTrials));
  require("binomial", "p", p, at_least(0).at_most(1));
  if (p > 0.5) return n - binomial(random, n, 1 - p);  // 1 - p is exact here
  if (n == 0 || p == 0) return 0;
  if (trials * p < kSmallMean) return count_successes(random, trials, p);
  return BinomialByRejection(trials, p).draw(random);
}

}  // namespace ration
