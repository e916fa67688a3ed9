#include "ration/mechanisms/noisy_max.h"

#include <cmath>
#include <optional>

#include "base/check.h"
#include "base/distributions.h"
#include "base/real_draw.h"
#include "ration/base/error.h"

namespace ration {
namespace {

constexpr std::string_view kName = "NoisyMax";
constexpr double kUpward = 1 + 0x1p-50;  // more than the roundings of the scale

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

std::size_t NoisyMax::select(std::span<const double> scores, double sign, RandomSource& random) const {
  if (scores.empty()) throw InputError("NoisyMax: expected at least one score, got none");
  const RealLaw law = options_.noise == SelectionNoise::gumbel ? RealLaw::gumbel : RealLaw::exponential;
  const double scale = 2.0 * options_.sensitivity / options_.epsilon * kUpward;
  std::optional<std::size_t> best;
  std::optional<RealDraw> best_noise;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    RealDraw noise(law, random);
    if (!std::isfinite(scores[i])) continue;
    const bool falls_short = best && RealDraw::at_least(sign * scores[*best], scale, *best_noise,
                                                        sign * scores[i], scale, noise, random);
    if (falls_short) continue;
    best = i;
    best_noise = noise;
  }
  return best ? *best : uniform_below(random, scores.size());
}

}  // namespace ration
