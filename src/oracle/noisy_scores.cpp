#include "oracle/noisy_scores.h"

#include <fmt/format.h>

#include "ration/base/error.h"
#include "ration/clipping/sensitivity.h"

namespace ration {

std::vector<double> count_scores(std::span<const double> scores, std::span<const double> labels) {
  if (scores.size() != labels.size()) {
    throw InputError(fmt::format("NoisyScores: expected as many scores as labels, got {} and {}",
                                 scores.size(), labels.size()));
  }
  std::vector<double> counts(ScoreHistogram::kCells);
  for (std::size_t row = 0; row < labels.size(); ++row)
    counts[ScoreHistogram::cell_of(scores[row], labels[row])] += 1;
  return counts;
}

NoisyScoresQuery::NoisyScoresQuery(const NoisyAccuracyOptions& options)
    : mechanism_({.sensitivity = histogram_sensitivity_l1(options.relation),
                  .scale = laplace_scale_for("NoisyScores", options.epsilon)}) {}

std::vector<double> NoisyScoresQuery::release(std::span<const double> scores, std::span<const double> labels,
                                              RandomSource& random) const {
  std::vector<double> counts = count_scores(scores, labels);
  mechanism_.add_noise(counts, random);
  return counts;
}

}  // namespace ration
