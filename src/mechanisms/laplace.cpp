#include "mechanisms/laplace.h"

#include "base/check.h"
#include "mechanisms/exact_sampling.h"
#include "mechanisms/sensitivity.h"

namespace ration {
namespace {

constexpr std::string_view kName = "LaplaceMechanism";

LaplaceOptions validated(const LaplaceOptions& options) {
  require(kName, "sensitivity", options.sensitivity, greater_than(0));
  require(kName, "scale", options.scale, greater_than(0));
  return options;
}

}  // namespace

LaplaceMechanism::LaplaceMechanism(const LaplaceOptions& options)
    : options_(validated(options)), grid_(kName, options.sensitivity, options.sensitivity * options.scale) {}

double LaplaceMechanism::noise_scale(std::size_t dimension) const {
  return noise_with_drift(options_.scale, options_.sensitivity, l1_drift(grid_, dimension));
}

void LaplaceMechanism::add_noise(std::span<double> values, RandomSource& random) const {
  const std::uint64_t scale = grid_.noise_steps(kName, noise_scale(values.size()));
  for (double& value : values) {
    value = grid_.value(grid_.steps(value) + exact::rounded_laplace(random, scale));
  }
}

double LaplaceMechanism::release(double value, RandomSource& random) const {
  add_noise({&value, 1}, random);
  return value;
}

}  // namespace ration
