#include "ration/mechanisms/above_threshold.h"

#include <cmath>
#include <limits>

#include "base/check.h"
#include "base/distributions.h"
#include "ration/base/error.h"

namespace ration {
namespace {

constexpr std::string_view kName = "AboveThreshold";

void validate(const LaplaceSearch& noise) {
  require(kName, "threshold_epsilon", noise.threshold_epsilon, greater_than(0));
  require(kName, "query_epsilon", noise.query_epsilon, greater_than(0));
}
void validate(const GaussianSearch& noise) {
  require(kName, "threshold_noise", noise.threshold_noise, greater_than(0));
  require(kName, "query_noise", noise.query_noise, greater_than(0));
}

AboveThresholdOptions validated(const AboveThresholdOptions& options) {
  require(kName, "threshold", options.threshold, at_least(std::numeric_limits<double>::lowest()));
  require(kName, "sensitivity", options.sensitivity, greater_than(0));
  require(kName, "max_queries", static_cast<double>(options.max_queries), at_least(1));
  std::visit([](const auto& noise) { validate(noise); }, options.noise);
  return options;
}

// Per unit of sensitivity.
double threshold_noise(const LaplaceSearch& noise, RandomSource& random) {
  return laplace(random, 1.0 / noise.threshold_epsilon);
}
double threshold_noise(const GaussianSearch& noise, RandomSource& random) {
  return noise.threshold_noise * standard_gaussian(random);
}
double query_noise(const LaplaceSearch& noise, RandomSource& random) {
  return laplace(random, 1.0 / noise.query_epsilon);
}
double query_noise(const GaussianSearch& noise, RandomSource& random) {
  return noise.query_noise * standard_gaussian(random);
}

Event event_of(const LaplaceSearch& noise) {
  return Event::above_threshold_laplace(noise.threshold_epsilon, noise.query_epsilon);
}
Event event_of(const GaussianSearch& noise) {
  return Event::above_threshold_gaussian(noise.threshold_noise, noise.query_noise);
}

double noisy_threshold(const AboveThresholdOptions& options, RandomSource& random) {
  const auto draw = [&](const auto& noise) { return threshold_noise(noise, random); };
  return options.threshold + options.sensitivity * std::visit(draw, options.noise);
}

}  // namespace

LaplaceSearch LaplaceSearch::with_epsilon(double epsilon) {
  require(kName, "epsilon", epsilon, greater_than(0));
  return {.threshold_epsilon = epsilon / 2, .query_epsilon = epsilon / 4};
}

GaussianSearch GaussianSearch::with_rho(double rho) {
  require(kName, "rho", rho, greater_than(0));
  return {.threshold_noise = std::sqrt(1.5 / rho), .query_noise = std::sqrt(3.0 / rho)};
}

AboveThreshold::AboveThreshold(const AboveThresholdOptions& options, RandomSource& random)
    : options_(validated(options)),
      random_(random),
      noisy_threshold_(noisy_threshold(options_, random)),
      queries_left_(options_.max_queries) {}

bool AboveThreshold::above(double query) {
  if (finished())
    throw InputError("AboveThreshold: the search is finished; begin a new one to ask another query");
  --queries_left_;
  const auto draw = [&](const auto& noise) { return query_noise(noise, random_); };
  const double noise = options_.sensitivity * std::visit(draw, options_.noise);
  if (!std::isfinite(query) || query + noise < noisy_threshold_) return false;
  queries_left_ = 0;
  return true;
}

Event AboveThreshold::event() const {
  return std::visit([](const auto& noise) { return event_of(noise); }, options_.noise);
}

}  // namespace ration
