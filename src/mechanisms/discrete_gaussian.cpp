#include "mechanisms/discrete_gaussian.h"

#include <boost/multiprecision/cpp_int.hpp>

#include "base/check.h"
#include "mechanisms/exact_sampling.h"

namespace ration {
namespace {

using exact::Wide;

DiscreteVariance validated(const DiscreteVariance& variance) {
  require("DiscreteGaussian", "numerator", static_cast<double>(variance.numerator), at_least(1));
  require("DiscreteGaussian", "denominator", static_cast<double>(variance.denominator), at_least(1));
  return variance;
}

// floor(sigma) + 1
std::uint64_t scale_above(const DiscreteVariance& variance) {
  return 1 + static_cast<std::uint64_t>(sqrt(Wide(variance.numerator / variance.denominator)));
}

}  // namespace

DiscreteGaussian::DiscreteGaussian(const DiscreteVariance& variance)
    : variance_(validated(variance)), laplace_scale_(scale_above(variance)) {}

// With sigma^2 = n / m and scale t the exponent is (|k| t m - n)^2 / (2 n m t^2).
bool DiscreteGaussian::accepts(std::uint64_t magnitude, RandomSource& random) const {
  const Wide n = variance_.numerator;
  const Wide m = variance_.denominator;
  const Wide t = laplace_scale_;
  const Wide reached = t * m * magnitude;
  const Wide distance = reached > n ? reached - n : n - reached;
  return exact::bernoulli_exp(random, Wide(distance * distance), Wide(2 * n * m * t * t));
}

std::int64_t DiscreteGaussian::sample(RandomSource& random) const {
  for (;;) {
    const std::int64_t candidate = exact::discrete_laplace(random, laplace_scale_);
    if (accepts(static_cast<std::uint64_t>(candidate < 0 ? -candidate : candidate), random)) return candidate;
  }
}

DiscreteGaussianMechanism::DiscreteGaussianMechanism(const GaussianOptions& options) : ideal_(options) {}

std::uint64_t DiscreteGaussianMechanism::sigma_in_steps(std::size_t dimension) const {
  return grid().noise_steps("DiscreteGaussianMechanism", ideal_.stddev(dimension));
}

double DiscreteGaussianMechanism::stddev(std::size_t dimension) const {
  return static_cast<double>(sigma_in_steps(dimension)) * grid().step();
}

void DiscreteGaussianMechanism::add_noise(std::span<double> sum, RandomSource& random) const {
  const std::uint64_t sigma = sigma_in_steps(sum.size());
  const DiscreteGaussian noise({.numerator = sigma * sigma, .denominator = 1});
  for (double& value : sum) value = grid().value(grid().steps(value) + noise.sample(random));
}

Event DiscreteGaussianMechanism::event() const {
  return Event::discrete_gaussian(ideal_.options().noise_multiplier);
}

}  // namespace ration
