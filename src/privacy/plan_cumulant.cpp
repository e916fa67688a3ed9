#include "privacy/plan_cumulant.h"

#include <algorithm>
#include <boost/math/tools/minima.hpp>
#include <cmath>
#include <limits>

#include "privacy/rdp.h"

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

double PlanCumulant::upper(double z) {
  constexpr double kSummation = 1e-14;
  double total = 0;
  for (std::size_t i = 0; i < tables_.size(); ++i)
    total += counts_[i] * loss_cumulant_upper(tables_[i], direction_, z);
  return total + kSummation * std::abs(total);
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

bool can_be_tabulated(const SampledGaussianPlan& plan) {
  constexpr double kLeastNoise = 0.002;
  return std::all_of(plan.begin(), plan.end(),
                     [](const SampledGaussian& step) { return step.rate == 1 || step.noise >= kLeastNoise; });
}

Saddle saddle_for_delta(PlanCumulant& cumulant, double delta) {
  const auto conversion = [&](double z) { return rdp_conversion_term(1 + z, delta); };
  const double best = minimise([&](double z) { return cumulant(z) / z + conversion(z); });
  const double tilt = (1 + best) - 1;  // so that the order is 1 + tilt to the last bit
  const double epsilon = cumulant.upper(tilt) / tilt + conversion(tilt);
  if (std::isnan(epsilon)) return {tilt, std::numeric_limits<double>::infinity()};
  return {tilt, std::max(0.0, epsilon)};
}

Saddle saddle_for_epsilon(PlanCumulant& cumulant, double epsilon) {
  const double tilt =
      minimise([&](double z) { return cumulant(z) - z * epsilon - std::log(z) - std::log1p(z); });
  return {tilt, epsilon};
}

}  // namespace ration
