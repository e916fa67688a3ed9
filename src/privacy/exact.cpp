#include "privacy/exact.h"

#include <algorithm>
#include <boost/math/tools/toms748_solve.hpp>
#include <cmath>
#include <complex>
#include <limits>
#include <numbers>
#include <vector>

#include "base/check.h"
#include "privacy/plan_cumulant.h"

namespace ration {
namespace {

// Aliases and the cut-off tail stay below e^{-kDigits} of the value.
constexpr double kDigits = 33;
// Beyond this many nodes times table entries the contour is given up.
constexpr double kMostNodes = 4000;
constexpr double kLargestImaginary = 4000;

// The period whose aliases a Chernoff bound puts below the value: to the left delta is at most 1, to the
// right it is at most e^{K(z) - z (epsilon + period)} for any z above the contour.
double alias_free_period(PlanCumulant& cumulant, double contour, double epsilon, double log_delta) {
  const double needed = kDigits - log_delta;
  double right = std::numeric_limits<double>::infinity();
  for (double factor = 1.1; factor < 200; factor *= 1.3) {
    const double z = contour * factor;
    right = std::min(right, (cumulant(z) - z * epsilon + needed) / (z - contour));
  }
  return std::max(right, needed / contour);
}

// The integrand's part that does not depend on epsilon, on the nodes of one contour.
class Contour {
 public:
  static std::optional<Contour> through(const SampledGaussianPlan& plan, Direction direction,
                                        const Saddle& saddle, double log_delta, double log_lost) {
    PlanCumulant coarse(plan, direction, {.log_lost = log_lost});
    const double period = alias_free_period(coarse, saddle.tilt, saddle.epsilon, log_delta);
    const double step = 2 * std::numbers::pi / period;
    const auto [mean, variance] = coarse.tilted(saddle.tilt);
    double reach = 9 / std::sqrt(variance);
    for (int attempt = 0; attempt < 6; ++attempt, reach *= 2) {
      if (!(reach < step * kMostNodes) || !(reach < kLargestImaginary * smallest_noise(plan)))
        return std::nullopt;
      Contour contour(saddle.tilt, step);
      if (contour.fill(plan, direction, {.imaginary = reach, .log_lost = log_lost})) return contour;
    }
    return std::nullopt;
  }

  // log delta(epsilon); the value is positive up to rounding.
  double log_delta(double epsilon) const {
    double sum = 0;
    for (std::size_t k = 0; k < terms_.size(); ++k) {
      const double angle = -static_cast<double>(k) * step_ * epsilon;
      const double real = terms_[k].real() * std::cos(angle) - terms_[k].imag() * std::sin(angle);
      sum += k == 0 ? 0.5 * real : real;
    }
    const double value = std::max(sum, std::numeric_limits<double>::min());
    return std::log(value * step_ / std::numbers::pi) + scale_ - tilt_ * epsilon;
  }

 private:
  Contour(double tilt, double step) : tilt_(tilt), step_(step) {}

  static double smallest_noise(const SampledGaussianPlan& plan) {
    double smallest = std::numeric_limits<double>::infinity();
    for (const SampledGaussian& item : plan) smallest = std::min(smallest, item.noise);
    return smallest;
  }

  // Whether the integrand has died out before the largest imaginary part.
  bool fill(const SampledGaussianPlan& plan, Direction direction, const PlanCumulant::Limits& limits) {
    PlanCumulant cumulant(plan, direction, limits);
    scale_ = cumulant(tilt_);
    const double enough = std::exp(-kDigits) / (tilt_ * (tilt_ + 1));
    for (double t = 0; t <= limits.imaginary; t = static_cast<double>(terms_.size()) * step_) {
      const std::complex<double> z(tilt_, t);
      terms_.push_back(std::exp(cumulant(z) - scale_) / (z * (z + 1.0)));
      if (std::abs(terms_.back()) < enough) return true;
    }
    return false;
  }

  double tilt_;
  double step_;
  double scale_ = 0;
  std::vector<std::complex<double>> terms_;
};

bool is_single_step(const SampledGaussianPlan& plan) {
  return plan.size() == 1 && plan[0].count == 1;
}

// Outputs that all steps together see with a probability below e^{-kDigits} of delta are left out.
double log_lost(const SampledGaussianPlan& plan, double log_delta) {
  double steps = 0;
  for (const SampledGaussian& step : plan) steps += static_cast<double>(step.count);
  return log_delta - kDigits - std::log(steps);
}

std::optional<double> larger(std::optional<double> a, std::optional<double> b) {
  if (!a || !b) return std::nullopt;
  return std::max(*a, *b);
}

}  // namespace

std::optional<double> exact_delta(std::span<const SampledGaussian> raw, Direction direction, double epsilon) {
  require("exact_delta", "epsilon", epsilon, at_least(0));
  const SampledGaussianPlan plan = normalised(raw);
  if (plan.empty()) return 0;
  if (is_single_step(plan)) return single_step_delta(plan[0], direction, epsilon);
  if (!can_be_tabulated(plan)) return std::nullopt;
  PlanCumulant cumulant(plan, direction);
  const Saddle saddle = saddle_for_epsilon(cumulant, epsilon);
  // At the saddle the integrand's height is the value up to a factor of the order of the bell's width.
  const double log_height = cumulant(saddle.tilt) - saddle.tilt * epsilon - 5;
  const double log_delta = std::min(-1.0, log_height);
  const auto contour = Contour::through(plan, direction, saddle, log_delta, log_lost(plan, log_delta));
  if (!contour) return std::nullopt;
  return std::exp(contour->log_delta(epsilon));
}

std::optional<double> exact_delta(std::span<const SampledGaussian> plan, double epsilon) {
  return larger(exact_delta(plan, Direction::remove, epsilon), exact_delta(plan, Direction::add, epsilon));
}

namespace {

// epsilon by one contour, through the saddle that the Renyi bound suggests.
std::optional<double> epsilon_by_renyi_saddle(const SampledGaussianPlan& plan, Direction direction,
                                              double delta) {
  const double log_delta = std::log(delta);
  PlanCumulant cumulant(plan, direction, {.log_lost = log_lost(plan, log_delta)});
  const Saddle saddle = saddle_for_delta(cumulant, delta);
  const auto contour = Contour::through(plan, direction, saddle, log_delta, log_lost(plan, log_delta));
  if (!contour) return std::nullopt;
  const auto excess = [&](double epsilon) { return contour->log_delta(epsilon) - log_delta; };
  if (!std::isfinite(excess(saddle.epsilon))) return std::nullopt;
  double high = saddle.epsilon;  // the Renyi bound: delta(high) <= delta, up to rounding
  while (excess(high) > 0) high = 1.001 * high + 1e-12;
  // The contour is accurate around its saddle only, so the other end is looked for from there, in growing
  // strides.
  double low = high;
  for (double stride = 1 / saddle.tilt; !(excess(low) > 0); stride *= 2) {
    if (low == 0) return 0;
    high = low;
    low = std::max(0.0, low - stride);
  }
  std::uintmax_t iterations = 100;
  return boost::math::tools::toms748_solve(excess, low, high, boost::math::tools::eps_tolerance<double>(48),
                                           iterations)
      .second;
}

// Whether the contour through the saddle of this epsilon gives back delta.
bool is_confirmed(const SampledGaussianPlan& plan, Direction direction, double epsilon, double delta) {
  constexpr double kClose = 1e-5;
  const auto back = exact_delta(plan, direction, epsilon);
  if (!back) return false;
  return epsilon == 0 ? *back <= delta * (1 + kClose) : std::abs(*back / delta - 1) < kClose;
}

}  // namespace

std::optional<double> exact_epsilon(std::span<const SampledGaussian> raw, Direction direction, double delta) {
  require("exact_epsilon", "delta", delta, greater_than(0).less_than(1));
  const SampledGaussianPlan plan = normalised(raw);
  if (plan.empty()) return 0;
  if (is_single_step(plan)) return single_step_epsilon(plan[0], direction, delta);
  if (!can_be_tabulated(plan)) return std::nullopt;
  const auto epsilon = epsilon_by_renyi_saddle(plan, direction, delta);
  if (epsilon && is_confirmed(plan, direction, *epsilon, delta)) return epsilon;
  return std::nullopt;
}

std::optional<double> exact_epsilon(std::span<const SampledGaussian> plan, double delta) {
  return larger(exact_epsilon(plan, Direction::remove, delta), exact_epsilon(plan, Direction::add, delta));
}

}  // namespace ration
