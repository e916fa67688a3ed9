#include "schedules/noise_shape.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace ration {
namespace {

constexpr const char* kWhere = "schedule";

using Shape = std::vector<double>;

template <class Formula>
Shape fill(std::int64_t steps, const Formula& formula) {
  Shape shape(static_cast<std::size_t>(steps));
  for (std::int64_t t = 1; t <= steps; ++t) {
    shape[static_cast<std::size_t>(t - 1)] = formula(static_cast<double>(t));
  }
  return shape;
}

double require_gamma(double gamma) {
  return require(kWhere, "gamma", gamma, greater_than(0).less_than(1));
}

Shape shape_of(const UniformNoise&, std::int64_t steps) {
  return Shape(static_cast<std::size_t>(steps), 1.0);
}

Shape shape_of(const ExponentialNoise& noise, std::int64_t steps) {
  require(kWhere, "rate", noise.rate, at_least(0));
  return fill(steps, [&](double t) { return std::exp(-noise.rate * t); });
}

Shape shape_of(const StepNoise& noise, std::int64_t steps) {
  require(kWhere, "every", static_cast<double>(noise.every), at_least(1));
  require(kWhere, "factor", noise.factor, greater_than(0).at_most(1));
  return fill(steps, [&](double t) {
    return std::pow(noise.factor, std::floor(t / static_cast<double>(noise.every)));
  });
}

Shape shape_of(const TimeNoise& noise, std::int64_t steps) {
  require(kWhere, "rate", noise.rate, at_least(0));
  return fill(steps, [&](double t) { return 1 / (1 + noise.rate * t); });
}

Shape shape_of(const PolynomialNoise& noise, std::int64_t steps) {
  require(kWhere, "end", noise.end, greater_than(0).at_most(1));
  require(kWhere, "power", noise.power, greater_than(0));
  const auto total = static_cast<double>(steps);
  return fill(steps,
              [&](double t) { return (1 - noise.end) * std::pow(1 - t / total, noise.power) + noise.end; });
}

// As powers of gamma^(-1/4) from the end, which neither overflow nor underflow before the shape itself does.
Shape shape_of(const InfluenceNoise& noise, std::int64_t steps) {
  const double log_gamma = std::log(require_gamma(noise.gamma));
  return fill(steps, [&](double t) { return std::exp(log_gamma * (t - 1) / 4); });
}

// log q_t up to a constant.
double log_momentum_influence(const MomentumInfluenceNoise& noise, double turning, double steps, double t) {
  const double log_gamma = std::log(noise.gamma);
  if (t <= turning) return std::log(2.0) + log_gamma * (steps + t - 1);
  const double left = steps + 1 - t;
  const double damped = std::log1p(-std::exp(left * (2 * std::log(noise.beta) - log_gamma)));
  return log_gamma * (2 * (turning - 1) + left) + (noise.beta > 0 ? damped : 0);
}

Shape shape_of(const MomentumInfluenceNoise& noise, std::int64_t steps) {
  require_gamma(noise.gamma);
  require(kWhere, "beta", noise.beta, at_least(0).less_than(1));
  require(kWhere, "beta^2", noise.beta * noise.beta, at_least(0).less_than(noise.gamma));
  const auto turning = static_cast<double>(momentum_turning_point(noise.gamma, noise.beta));
  const auto total = static_cast<double>(steps);
  Shape logs = fill(steps, [&](double t) { return log_momentum_influence(noise, turning, total, t); });
  const double largest = *std::max_element(logs.begin(), logs.end());
  for (double& log : logs) log = std::exp((largest - log) / 4);
  return logs;
}

}  // namespace

std::vector<double> relative_noise(const NoiseShape& shape, std::int64_t steps) {
  require(kWhere, "steps", static_cast<double>(steps), at_least(1).at_most(1e8));
  std::vector<double> noise = std::visit([&](const auto& kind) { return shape_of(kind, steps); }, shape);
  const auto [least, most] = std::minmax_element(noise.begin(), noise.end());
  require(kWhere, "smallest over largest noise", *least / *most, greater_than(1e-100).at_most(1));
  return noise;
}

std::vector<double> noise_for_influence(std::span<const double> influence) {
  std::vector<double> noise;
  noise.reserve(influence.size());
  for (const double q : influence) {
    noise.push_back(1 / std::sqrt(std::sqrt(require(kWhere, "influence", q, greater_than(0)))));
  }
  return noise;
}

std::int64_t momentum_turning_point(double gamma, double beta) {
  require_gamma(gamma);
  require(kWhere, "beta", beta, at_least(0).less_than(1));
  // At t = 1 both sides are 1. The left side falls to 0 and the right one to 1 - beta, so there is a last t;
  // and from the first t at which it fails it fails for ever, since the right side falls ever more slowly.
  std::int64_t t = 1;
  const double log_gamma = std::log(gamma);
  const auto holds = [&](std::int64_t step) {
    const auto s = static_cast<double>(step);
    return log_gamma * (s - 1) >= std::log1p(-beta) - std::log1p(-std::pow(beta, s));
  };
  while (holds(t + 1)) ++t;
  return t;
}

}  // namespace ration
