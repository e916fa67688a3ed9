#include "oracle/noisy_accuracy.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "base/check.h"
#include "oracle/right_and_wrong.h"
#include "ration/base/error.h"
#include "ration/clipping/sensitivity.h"

namespace ration {
namespace {

// Within these the grid of the noise holds 2e8 rows and more, and the noise less than a thousandth above its
// formula.
constexpr Interval kEpsilon = at_least(1e-6).at_most(1000);

}  // namespace

double laplace_scale_for(const char* query, double epsilon) {
  require(query, "epsilon", epsilon, kEpsilon);
  return std::nextafter(1 / epsilon, std::numeric_limits<double>::infinity());
}

std::array<double, 2> count_right_and_wrong(std::span<const double> predictions,
                                            std::span<const double> labels) {
  if (predictions.size() != labels.size()) {
    throw InputError(fmt::format("NoisyAccuracy: expected as many predictions as labels, got {} and {}",
                                 predictions.size(), labels.size()));
  }
  std::array<double, 2> counts{};
  for (std::size_t row = 0; row < labels.size(); ++row) counts[predictions[row] == labels[row] ? 0 : 1] += 1;
  return counts;
}

NoisyAccuracyQuery::NoisyAccuracyQuery(const NoisyAccuracyOptions& options)
    : mechanism_({.sensitivity = histogram_sensitivity_l1(options.relation),
                  .scale = laplace_scale_for("NoisyAccuracy", options.epsilon)}) {}

NoisyAccuracy NoisyAccuracyQuery::release(std::span<const double> predictions, std::span<const double> labels,
                                          RandomSource& random) const {
  std::array<double, 2> counts = count_right_and_wrong(predictions, labels);
  mechanism_.add_noise(counts, random);
  const double rows = counts[0] + counts[1];
  if (!(rows > 0)) return {};
  // To first order: the noise of a count moves their ratio by the other's share of the rows.
  const double accuracy = std::clamp(counts[0] / rows, 0.0, 1.0);
  const double stddev = std::numbers::sqrt2 * noise_scale();
  return {.accuracy = accuracy, .rows = rows, .error = std::hypot(accuracy, 1 - accuracy) * stddev / rows};
}

}  // namespace ration
