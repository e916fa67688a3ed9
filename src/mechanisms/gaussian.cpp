#include "ration/mechanisms/gaussian.h"

#include <algorithm>
#include <array>

#include "mechanisms/sensitivity.h"
#include "ration/base/check.h"
#include "ration/base/distributions.h"

namespace ration {
namespace {

constexpr std::string_view kName = "GaussianMechanism";
constexpr std::size_t kChunk = 512;

GaussianOptions validated(const GaussianOptions& options) {
  require(kName, "sensitivity", options.sensitivity, greater_than(0));
  require(kName, "noise_multiplier", options.noise_multiplier, greater_than(0));
  return options;
}

}  // namespace

GaussianMechanism::GaussianMechanism(const GaussianOptions& options)
    : options_(validated(options)),
      grid_(kName, options.sensitivity, options.sensitivity * options.noise_multiplier) {}

double GaussianMechanism::stddev(std::size_t dimension) const {
  return noise_with_drift(options_.noise_multiplier, options_.sensitivity, l2_drift(grid_, dimension));
}

void GaussianMechanism::add_noise(std::span<double> sum, RandomSource& random) const {
  const double scale = stddev(sum.size());
  std::array<double, kChunk> buffer;
  while (!sum.empty()) {
    const auto chunk = sum.first(std::min(sum.size(), kChunk));
    const auto noise = std::span(buffer).first(chunk.size());
    fill_gaussian(random, noise, scale);
    for (std::size_t i = 0; i < chunk.size(); ++i) chunk[i] = grid_.round(chunk[i]) + grid_.round(noise[i]);
    sum = sum.subspan(chunk.size());
  }
}

}  // namespace ration
