#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace ration {

// Rows of two classes by class and by the score that a model gave them: the log odds z of class 1, or the
// margin of a model without probabilities. Counts need not be whole, nor above 0: they may be noisy, and all
// that is computed from them is then post-processing.
//
// Bins        (from, to], fixed beforehand: the same as those of p = 1 / (1 + e^-z) whose ends are 0, .01,
//             .02, .05, .1, .15, .2, .3, .4, .5 and what these leave of 1. Short where a rare class has its
//             scores. z = 0 lies in the bin below, where class 0 is told, as by the model itself.
class ScoreHistogram {
 public:
  static constexpr std::size_t kBins = 18;
  // Of class 0, then of class 1, and one for rows that have no score or no such class.
  static constexpr std::size_t kCells = 2 * kBins + 1;

  // Where a row is counted: in exactly one cell, whatever it holds.
  static std::size_t cell_of(double score, double label);
  // Between which probabilities a bin lies.
  static double from(std::size_t bin);
  static double to(std::size_t bin);
};

// A figure, and the standard deviation that independent noise on the counts gives it, to first order.
struct NoisyFigure {
  double value = 0;
  double error = 0;
};

// What counts of a ScoreHistogram say; nothing of what their noise left no rows for.
struct ScoreFigures {
  double rows = 0;  // of all cells, at least 0
  // Class 1 is told where z > 0. Rows without a score are wrong.
  std::optional<NoisyFigure> accuracy{}, balanced_accuracy{};
  // Rows of one bin count as ties; `auc_within` is how far that may be from the area by the scores
  // themselves.
  std::optional<NoisyFigure> auc{};
  double auc_within = 0;
  // Every probability taken for the middle of its bin; for models that give probabilities.
  std::optional<NoisyFigure> log_loss{}, brier{};
};
ScoreFigures figures_of(std::span<const double> counts, double noise_stddev, bool has_probabilities);

// Class 1 is told where the probability is above a threshold: how often of the rows of class 1, and of those
// of class 0. The ends of the bins are the thresholds, 0 and 1 left out. Nothing if the noise left no rows of
// one class.
struct AtThreshold {
  double threshold = 0;
  NoisyFigure recall{};           // of class 1
  NoisyFigure false_positives{};  // share of class 0
};
std::vector<AtThreshold> at_thresholds(std::span<const double> counts, double noise_stddev);

// How often rows of a bin are of class 1, for the bins that hold more rows than noise.
struct CalibratedBin {
  double from = 0, to = 0;
  double rows = 0;
  NoisyFigure was{};
};
std::vector<CalibratedBin> calibrated_bins(std::span<const double> counts, double noise_stddev);

}  // namespace ration
