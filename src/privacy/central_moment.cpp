#include "privacy/central_moment.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include "base/numeric.h"

namespace ration {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kUnit = std::numeric_limits<double>::epsilon() / 2;
// A power of two, so that nodes are exact. The rule's error is then about e^{-80}.
constexpr double kStep = 0.25;
// The sum may end where the bound on what is left out falls below this part of it.
constexpr double kInvisible = 1e-18;

enum class Side { left, right };

// The integrand's logarithm f on one side of its zero.
class Hump {
 public:
  Hump(double mu, int l, Side side) : mu_(mu), l_(l), side_(side) {}

  struct Exponent {
    double value;
    double error;
  };
  // The error of u is a few units of mu max(|y|, mu), and the logarithm magnifies it by e^u / |e^u - 1| <= 1
  // + 1/|u|. To leave out the 1 is to round up.
  Exponent exponent(double y) const {
    constexpr double kOneIsInvisible = 40;
    const double u = ratio(y);
    const double log_size = u > kOneIsInvisible ? u : std::log(std::abs(std::expm1(u)));
    const double moved = mu_ * std::max(std::abs(y), mu_) * (1 + 1 / std::abs(u));
    return {l_ * log_size - 0.5 * y * y, 8 * kUnit * (l_ * (std::abs(log_size) + moved) + y * y)};
  }
  double slope(double y) const { return -l_ * mu_ / std::expm1(-ratio(y)) - y; }
  bool holds(double y) const { return side_ == Side::right ? ratio(y) > 0 : ratio(y) < 0; }

  // A node close to the mode, the one root of the slope, which falls.
  double start() const {
    auto [low, high] = mode_range();
    while (high - low > kStep) {
      const double middle = 0.5 * (low + high);
      (slope(middle) > 0 ? low : high) = middle;
    }
    const double node = kStep * std::round(0.5 * (low + high) / kStep);
    if (holds(node)) return node;
    return side_ == Side::right ? node + kStep : node - kStep;
  }

 private:
  double ratio(double y) const { return mu_ * (y - 0.5 * mu_); }

  // On the right, 1 / (1 - e^{-u}) lies between max(1, 1/u) and 1 + 1/u; on the left, 1 / (e^{-u} - 1) lies
  // between 0 and 1/|u|. The slope's root lies between the roots that these give, of quadratic equations.
  std::pair<double, double> mode_range() const {
    if (side_ == Side::left) return {0.25 * mu_ - std::hypot(0.25 * mu_, std::sqrt(l_)), 0};
    const double half_gap = 0.5 * (l_ * mu_ - 0.5 * mu_);
    return {std::max(l_ * mu_, 0.25 * mu_ + std::hypot(0.25 * mu_, std::sqrt(l_))),
            l_ * mu_ - half_gap + std::hypot(half_gap, std::sqrt(l_))};
  }

  double mu_;
  double l_;
  Side side_;
};

// Bounds on the sum of e^{f - scale} over the nodes of one side. The lower one is up to rounding.
struct SideSum {
  double scale;
  double lower = 0;
  double upper = 0;
};

// Adds the nodes from `y` on, up to where the rest is invisible or the side ends.
void add_nodes(const Hump& hump, double y, double stride, SideSum& sum) {
  for (; hump.holds(y); y += stride) {
    const auto [exponent, error] = hump.exponent(y);
    const double term = std::exp(exponent - sum.scale);
    sum.lower += term;
    sum.upper += term * (error < 1 ? 1 + 2 * error : std::exp(error));
    if (term > kInvisible * sum.lower) continue;
    const double rest = term / std::expm1(-stride * hump.slope(y));
    if (!(rest >= 0 && rest <= kInvisible * sum.lower)) continue;  // negative before the mode
    sum.upper += rest;
    return;
  }
}

SideSum sum_over(const Hump& hump) {
  // Exponentials of differences of at most a few dozen, and a few hundred additions.
  constexpr double kSummation = 1 + 512 * kUnit;
  const double start = hump.start();
  SideSum sum{.scale = hump.exponent(start).value};
  add_nodes(hump, start, kStep, sum);
  add_nodes(hump, start - kStep, -kStep, sum);
  sum.upper *= kSummation;
  return sum;
}

// log c(I), where log_root is the logarithm of I^{1/k}. This b is the best one for large noise.
double log_rule_error(double mu, double k, double log_root) {
  constexpr double kPi = std::numbers::pi;
  constexpr double b = 2 * kPi / (kStep * (1 + std::numbers::e));
  const double log_shift = 2 * std::log(mu * b) + 0.5 * (k - 1) * mu * mu - log_root;
  return std::log(2.0) + 0.5 * b * b + k * log_add_exp(0, log_shift) -
         std::log(std::expm1(2 * kPi * b / kStep));
}

}  // namespace

double log_central_moment(double noise, int l) {
  constexpr double kNodesAreExact = 1e12;
  constexpr double kSmallError = -20;
  const double mu = 1 / noise;
  if (!(mu * l < kNodesAreExact)) return kInfinity;
  const SideSum right = sum_over(Hump(mu, l, Side::right));
  const SideSum left = sum_over(Hump(mu, l, Side::left));
  const double log_weight = std::log(kStep / std::sqrt(2 * std::numbers::pi));
  const double lower =
      log_weight + log_add_exp(right.scale + std::log(right.lower), left.scale + std::log(left.lower));
  const double upper =
      log_weight + log_add_exp(right.scale + std::log(right.upper), left.scale + std::log(left.upper));
  // 1 instead of log 2: the lower bound is up to rounding.
  const double log_error = log_rule_error(mu, 0.5 * l, (lower - 1) / (0.5 * l));
  if (!(log_error < kSmallError)) return kInfinity;
  return upper + 2 * std::exp(log_error) + 8 * kUnit * (1 + std::abs(upper));
}

}  // namespace ration
