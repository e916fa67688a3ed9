#include "privacy/plan_cumulant.h"

#include <algorithm>
#include <boost/math/tools/minima.hpp>
#include <cmath>

namespace ration {
namespace {

constexpr double kSmallestTilt = 1e-4;
constexpr double kLargestTilt = 1e10;

// The minimum of a quasi-convex function of z > 0: walk up by factors of four until it rises, then Brent.
template <class Function>
double minimise(Function&& function) {
  const auto at = [&](double log_z) { return function(std::exp(log_z)); };
  const double stride = std::log(4.0);
  double high = std::log(kSmallestTilt);
  double value = at(high);
  while (high < std::log(kLargestTilt)) {
    const double next = at(high + stride);
    high += stride;
    if (!(next < value)) break;
    value = next;
  }
  constexpr int kBits = 16;  // the saddle need not be exact, only close
  return std::exp(boost::math::tools::brent_find_minima(at, high - 2 * stride, high, kBits).first);
}

}  // namespace

// Only `remove` has large losses at large outputs; for `add` the loss is at most -log(1 - rate).
PlanCumulant::PlanCumulant(const SampledGaussianPlan& plan, Direction direction, const Limits& limits)
    : direction_(direction) {
  const double tail = direction == Direction::remove ? std::sqrt(-2 * limits.log_lost)
                                                     : std::numeric_limits<double>::infinity();
  for (const SampledGaussian& step : plan) {
    tables_.emplace_back(step.rate, step.noise,
                         MomentTable::Limits{.imaginary = limits.imaginary, .output = tail + 1 / step.noise});
    counts_.push_back(static_cast<double>(step.count));
  }
}

double PlanCumulant::operator()(double z) {
  double total = 0;
  for (std::size_t i = 0; i < tables_.size(); ++i)
    total += counts_[i] * loss_cumulant(tables_[i], direction_, z);
  return total;
}

std::complex<double> PlanCumulant::operator()(std::complex<double> z) {
  std::complex<double> total = 0;
  for (std::size_t i = 0; i < tables_.size(); ++i)
    total += counts_[i] * loss_cumulant(tables_[i], direction_, z);
  return total;
}

PlanCumulant::Tilted PlanCumulant::tilted(double z) {
  const double step = 1e-3 * z;
  const double below = (*this)(z - step);
  const double here = (*this)(z);
  const double above = (*this)(z + step);
  return {(above - below) / (2 * step), std::max(0.0, (above - 2 * here + below) / (step * step))};
}

Saddle saddle_for_delta(PlanCumulant& cumulant, double delta) {
  const auto renyi_epsilon = [&](double z) {
    return (cumulant(z) - std::log(delta) + z * std::log(z) - (1 + z) * std::log1p(z)) / z;
  };
  const double tilt = minimise(renyi_epsilon);
  return {tilt, std::max(0.0, renyi_epsilon(tilt))};
}

Saddle saddle_for_epsilon(PlanCumulant& cumulant, double epsilon) {
  const double tilt =
      minimise([&](double z) { return cumulant(z) - z * epsilon - std::log(z) - std::log1p(z); });
  return {tilt, epsilon};
}

}  // namespace ration
