#include "privacy/advanced.h"

#include <algorithm>
#include <boost/math/tools/minima.hpp>
#include <cmath>
#include <numbers>

#include "base/check.h"
#include "base/numeric.h"
#include "privacy/gdp.h"
#include "privacy/mixture.h"

namespace ration {
namespace {

constexpr double kRoundUp = 1 + 1e-13;

// What the bounds need of a list of epsilon: sums that do not depend on the order of the steps.
struct Sums {
  double basic = 0;    // sum e
  double squares = 0;  // sum e^2
  double drift = 0;    // sum e tanh(e/2), the largest expected loss of an e-DP mechanism

  void add(double epsilon, double count) {
    basic += count * epsilon;
    squares += count * epsilon * epsilon;
    drift += count * epsilon * std::tanh(epsilon / 2);
  }
};

// [Dwork10]'s bound has drift sum e (e^e - 1), which is larger, so it is never the least and not computed.
double concentrated_bound(const Sums& sums, double slack) {
  // ln(e + sqrt(squares)/slack), where the quotient may overflow.
  const double kov = log_add_exp(1, 0.5 * std::log(sums.squares) - std::log(slack));
  const double spread = std::sqrt(2 * sums.squares * std::min(-std::log(slack), kov));
  return (sums.drift + spread) * kRoundUp;
}

double basic_bound(const Sums& sums) {
  return sums.basic * kRoundUp;
}

double least_bound(const Sums& sums, double slack) {
  return slack == 0 ? basic_bound(sums) : std::min(basic_bound(sums), concentrated_bound(sums, slack));
}

double step_epsilon(const SampledGaussian& step, double step_delta) {
  const double before_sampling = step_delta / step.rate * (1 - 1e-15);
  if (before_sampling >= 1) return 0;  // delta = 1 says nothing, at epsilon = 0
  return log_mixture(step.rate, gaussian_epsilon(step.noise, before_sampling));
}

void validate(std::span<const SampledGaussian> steps) {
  for (const SampledGaussian& step : steps) {
    require("advanced composition", "rate", step.rate, greater_than(0).at_most(1));
    require("advanced composition", "count", static_cast<double>(step.count), at_least(0));
  }
}

Sums sums_of_split(std::span<const SampledGaussian> steps, double total, double delta, double slack) {
  // Rounded down, so that the parts never sum to more than delta.
  const double step_delta = (delta - slack) / total * (1 - 1e-15);
  Sums sums;
  for (const SampledGaussian& step : steps) {
    if (step.count > 0) sums.add(step_epsilon(step, step_delta), static_cast<double>(step.count));
  }
  return sums;
}

}  // namespace

double advanced_composition_epsilon(double epsilon, double steps, double slack) {
  require("advanced composition", "epsilon", epsilon, at_least(0));
  require("advanced composition", "steps", steps, at_least(0));
  require("advanced composition", "slack", slack, at_least(0).less_than(1));
  Sums sums;
  sums.add(epsilon, steps);
  return least_bound(sums, slack);
}

double advanced_gaussian_epsilon(std::span<const SampledGaussian> steps, double delta) {
  require("advanced composition", "delta", delta, greater_than(0).less_than(1));
  validate(steps);
  const double total = total_steps(steps);
  if (total == 0) return 0;
  // By the logarithm of slack/delta: the best share of the slack may be tiny.
  // The basic bound wants no slack at all; the least of both would have two minima, and which of them a
  // search finds would make the result jump.
  const auto by_log_share = [&](double log_share) {
    const double slack = delta * std::exp(log_share);
    return concentrated_bound(sums_of_split(steps, total, delta, slack), slack);
  };
  constexpr int kBits = 20;
  const double shared = boost::math::tools::brent_find_minima(by_log_share, -20.0, -1e-3, kBits).second;
  return std::min(shared, basic_bound(sums_of_split(steps, total, delta, 0)));
}

double advanced_gaussian_epsilon(double noise, double rate, std::int64_t steps, double delta) {
  const SampledGaussian all{.rate = rate, .noise = noise, .count = steps};
  return advanced_gaussian_epsilon({&all, 1}, delta);
}

}  // namespace ration
