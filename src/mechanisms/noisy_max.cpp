#include "ration/mechanisms/noisy_max.h"

#include <cmath>
#include <optional>

#include "base/check.h"
#include "base/distributions.h"
#include "ration/base/error.h"

namespace ration {
namespace {

constexpr std::string_view kName = "NoisyMax";

NoisyMaxOptions validated(const NoisyMaxOptions& options) {
  require(kName, "sensitivity", options.sensitivity, greater_than(0));
  require(kName, "epsilon", options.epsilon, greater_than(0));
  return options;
}

}  // namespace

NoisyMax::NoisyMax(const NoisyMaxOptions& options) : options_(validated(options)) {}

std::size_t NoisyMax::largest(std::span<const double> scores, RandomSource& random) const {
  return select(scores, +1.0, random);
}

std::size_t NoisyMax::smallest(std::span<const double> losses, RandomSource& random) const {
  return select(losses, -1.0, random);
}

Event NoisyMax::event() const {
  return options_.noise == SelectionNoise::gumbel ? Event::bounded_range(options_.epsilon)
                                                  : Event::noisy_max(options_.epsilon);
}

double NoisyMax::draw(RandomSource& random) const {
  const double standard = exponential(random, 1.0);
  const double scale = 2.0 * options_.sensitivity / options_.epsilon;
  return scale * (options_.noise == SelectionNoise::gumbel ? -std::log(standard) : standard);
}

std::size_t NoisyMax::select(std::span<const double> scores, double sign, RandomSource& random) const {
  if (scores.empty()) throw InputError("NoisyMax: expected at least one score, got none");
  std::optional<std::size_t> best;
  double best_value = 0.0;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    const double value = sign * scores[i] + draw(random);
    if (!std::isfinite(scores[i]) || (best && value <= best_value)) continue;
    best = i;
    best_value = value;
  }
  return best ? *best : uniform_below(random, scores.size());
}

}  // namespace ration
