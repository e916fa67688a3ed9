#include "mechanisms/grid.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace ration {
namespace {

constexpr int kBitsBelowBoth = 24;
constexpr int kBitsBelowNoise = 30;
constexpr double kMostNoiseSteps = 4294967295.0;  // 2^32 - 1
constexpr Interval kManageable = at_least(1e-200).at_most(1e200);

int step_exponent(double sensitivity, double noise_scale) {
  const int noise = std::ilogb(noise_scale);
  return std::max(std::min(std::ilogb(sensitivity), noise) - kBitsBelowBoth, noise - kBitsBelowNoise);
}

}  // namespace

Grid::Grid(std::string_view where, double sensitivity, double noise_scale) {
  require(where, "sensitivity", sensitivity, kManageable);
  require(where, "noise", noise_scale, kManageable);
  const int exponent = step_exponent(sensitivity, noise_scale);
  step_ = std::ldexp(1.0, exponent);
  steps_per_unit_ = std::ldexp(1.0, -exponent);
}

std::uint64_t Grid::noise_steps(std::string_view where, double noise_scale) const {
  const double steps = std::ceil(noise_scale * steps_per_unit_);
  return static_cast<std::uint64_t>(
      require(where, "noise in steps of the grid", steps, at_least(1).at_most(kMostNoiseSteps)));
}

}  // namespace ration
