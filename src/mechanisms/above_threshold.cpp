#include "ration/mechanisms/above_threshold.h"

#include <cmath>
#include <limits>

#include "base/check.h"
#include "base/real_draw.h"
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
struct Scales {
  RealLaw law;
  double threshold;
  double query;
};
Scales scales_of(const LaplaceSearch& noise) {
  return {RealLaw::laplace, 1.0 / noise.threshold_epsilon, 1.0 / noise.query_epsilon};
}
Scales scales_of(const GaussianSearch& noise) {
  return {RealLaw::gaussian, noise.threshold_noise, noise.query_noise};
}
// In the units of the queries, rounded up.
Scales scales_of(const AboveThresholdOptions& options) {
  constexpr double kUpward = 1 + 0x1p-50;
  const Scales each = std::visit([](const auto& noise) { return scales_of(noise); }, options.noise);
  const double unit = options.sensitivity * kUpward;
  return {each.law, unit * each.threshold, unit * each.query};
}

Event event_of(const LaplaceSearch& noise, std::int64_t) {
  return Event::above_threshold_laplace(noise.threshold_epsilon, noise.query_epsilon);
}
Event event_of(const GaussianSearch& noise, std::int64_t queries) {
  return Event::above_threshold_gaussian(noise.threshold_noise, noise.query_noise, queries);
}

}  // namespace

LaplaceSearch LaplaceSearch::with_epsilon(double epsilon) {
  require(kName, "epsilon", epsilon, greater_than(0));
  return {.threshold_epsilon = epsilon / 2, .query_epsilon = epsilon / 4};
}

AboveThreshold::AboveThreshold(const AboveThresholdOptions& options, RandomSource& random)
    : options_(validated(options)),
      random_(random),
      threshold_noise_(std::make_unique<RealDraw>(scales_of(options_).law, random)),
      queries_left_(options_.max_queries) {}

AboveThreshold::~AboveThreshold() = default;

bool AboveThreshold::above(double query) {
  if (finished())
    throw InputError("AboveThreshold: the search is finished; begin a new one to ask another query");
  --queries_left_;
  const Scales scales = scales_of(options_);
  RealDraw noise(scales.law, random_);
  const bool reached =
      std::isfinite(query) && RealDraw::at_least(query, scales.query, noise, options_.threshold,
                                                 scales.threshold, *threshold_noise_, random_);
  if (!reached) return false;
  queries_left_ = 0;
  return true;
}

Event AboveThreshold::event() const {
  return std::visit([&](const auto& noise) { return event_of(noise, options_.max_queries); }, options_.noise);
}

}  // namespace ration
