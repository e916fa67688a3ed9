#include "mechanisms/objective_noise.h"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "base/check.h"
#include "ration/base/error.h"

namespace ration {
namespace {

constexpr double kUpward = 1 + 1e-12;

double cost_of_curvature(double smoothness, double regulariser) {
  return std::sqrt(std::numbers::pi / 2) * std::log1p(smoothness / regulariser) * kUpward;
}

// The mu that one added or removed row may take of the minimum.
double mu_of_the_minimum(const ObjectiveNoiseOptions& options) {
  const double steps = options.relation == Relation::add_remove ? 1 : 2;
  return std::sqrt(1 - ObjectiveNoise::kOutputShare) / (options.noise_multiplier * steps);
}

const ObjectiveNoiseOptions& validated(const ObjectiveNoiseOptions& options) {
  const char* const where = "objective perturbation";
  require(where, "lipschitz", options.lipschitz, greater_than(0));
  require(where, "smoothness", options.smoothness, greater_than(0));
  require(where, "regulariser", options.regulariser, greater_than(0));
  require(where, "noise_multiplier", options.noise_multiplier, greater_than(0));
  return options;
}

double stddev_of(const ObjectiveNoiseOptions& options) {
  const double left = mu_of_the_minimum(options) - cost_of_curvature(options.smoothness, options.regulariser);
  if (left > 0) return options.lipschitz / left * kUpward;
  throw InputError(
      fmt::format("objective perturbation: expected regulariser > {} for smoothness {} and noise multiplier "
                  "{}, got regulariser={}; "
                  "take a larger ridge",
                  show_rounded_up(ObjectiveNoise::regulariser_for(options, 1)), show(options.smoothness),
                  show(options.noise_multiplier), show(options.regulariser)));
}

}  // namespace

ObjectiveNoise::ObjectiveNoise(const ObjectiveNoiseOptions& options)
    : options_(validated(options)), linear_stddev_(stddev_of(options)) {}

double ObjectiveNoise::output_noise_multiplier() const {
  return options_.noise_multiplier / std::sqrt(kOutputShare) * kUpward;
}

double ObjectiveNoise::regulariser_for(const ObjectiveNoiseOptions& options, double share) {
  const double mu = share * mu_of_the_minimum(options) / std::sqrt(std::numbers::pi / 2);
  return options.smoothness / std::expm1(mu);
}

}  // namespace ration
