#include "privacy/sampled_gaussian.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "base/check.h"
#include "base/root.h"
#include "privacy/gdp.h"
#include "privacy/mixture.h"

namespace ration {
namespace {

void validate(const SampledGaussian& step) {
  require("Poisson", "rate", step.rate, greater_than(0).at_most(1));
  require("Gaussian", "noise_multiplier", step.noise, greater_than(0));
  require("Plan", "steps", static_cast<double>(step.count), at_least(0));
}

bool mergeable(const SampledGaussian& a, const SampledGaussian& b) {
  return a.rate == b.rate && a.noise == b.noise;
}

}  // namespace

double total_steps(std::span<const SampledGaussian> plan) {
  double total = 0;
  for (const SampledGaussian& step : plan) total += static_cast<double>(step.count);
  return total;
}

SampledGaussianPlan normalised(std::span<const SampledGaussian> plan) {
  SampledGaussianPlan out;
  double squared_mu = 0;
  for (const SampledGaussian& step : plan) {
    validate(step);
    if (step.count == 0) continue;
    if (step.rate == 1) {
      squared_mu += static_cast<double>(step.count) / (step.noise * step.noise);
    } else {
      out.push_back(step);
    }
  }
  std::sort(out.begin(), out.end(), [](const SampledGaussian& a, const SampledGaussian& b) {
    return std::tie(a.rate, a.noise) < std::tie(b.rate, b.noise);
  });
  std::size_t kept = 0;
  for (const SampledGaussian& step : out) {
    if (kept > 0 && mergeable(out[kept - 1], step)) {
      out[kept - 1].count += step.count;
    } else {
      out[kept++] = step;
    }
  }
  out.resize(kept);
  if (squared_mu > 0) out.push_back({.rate = 1, .noise = 1 / std::sqrt(squared_mu), .count = 1});
  return out;
}

double single_step_delta(const SampledGaussian& step, Direction direction, double epsilon) {
  const double mu = 1 / step.noise;
  if (direction == Direction::remove) return step.rate * gdp_delta(mu, log_unmixed(step.rate, epsilon));
  const double ratio = std::expm1(-epsilon) / step.rate;
  if (ratio <= -1) return 0;  // no output has a loss that large
  const double v = -std::log1p(ratio);
  return step.rate * std::exp(epsilon - v) * gdp_delta(mu, v);
}

double single_step_epsilon(const SampledGaussian& step, Direction direction, double delta) {
  const double mu = 1 / step.noise;
  if (delta >= step.rate) return 0;  // most of the time the row is not even in the sample
  if (direction == Direction::remove) return log_mixture(step.rate, gdp_epsilon(mu, delta / step.rate));
  if (step.rate == 1) return gdp_epsilon(mu, delta);
  const auto epsilon_at = [&](double v) { return -std::log1p(step.rate * std::expm1(-v)); };
  const double target = std::log(delta / step.rate) * (1 + 1e-13) - 1e-13;
  const auto excess = [&](double v) { return epsilon_at(v) - v + gdp_log_delta(mu, v) - target; };
  if (excess(0) <= 0) return 0;
  // D_mu <= 1 and epsilon <= -log(1 - rate), so the exponent alone suffices at the upper end.
  return epsilon_at(enclose_root(excess, 0, 1 - target - std::log1p(-step.rate)).second);
}

}  // namespace ration
