#include "ration/privacy/sampled_gaussian.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "ration/base/check.h"
#include "ration/base/numeric.h"

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
  const double q = step.rate;
  const double mu = 1 / step.noise;
  const double level = direction == Direction::remove ? epsilon : -epsilon;
  // The output y (in units of the noise) at which the ratio r equals e^level; none if e^level <= 1 - rate.
  const double exponential = std::expm1(level) / q;
  if (exponential <= -1) return direction == Direction::remove ? std::max(0.0, -std::expm1(epsilon)) : 0;
  const double y = (std::log1p(exponential) + 0.5 * mu * mu) / mu;
  if (direction == Direction::remove) {
    const double under_null = normal_cdf(-y);
    const double mixture = (1 - q) * under_null + q * normal_cdf(mu - y);
    return std::max(0.0, mixture - std::exp(epsilon) * under_null);
  }
  const double under_null = normal_cdf(y);
  const double mixture = (1 - q) * under_null + q * normal_cdf(y - mu);
  return std::max(0.0, under_null - std::exp(epsilon) * mixture);
}

}  // namespace ration
