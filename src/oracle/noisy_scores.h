#pragma once

#include <span>
#include <vector>

#include "mechanisms/laplace.h"
#include "metrics/score_histogram.h"
#include "oracle/noisy_accuracy.h"
#include "ration/base/random.h"
#include "ration/privacy/event.h"

namespace ration {

// Rows by cell of a ScoreHistogram. Exact: not private.
std::vector<double> count_scores(std::span<const double> scores, std::span<const double> labels);

// How well a classifier of two classes ranks private rows, and how likely what it says is: a histogram of its
// scores by class, released with Laplace noise on every cell. Area under the ROC curve, calibration, recalls
// at any threshold and the rest are computed from the noisy counts (metrics/score_histogram.h).
//
// Sensitivity  the bins are fixed beforehand, and a row counts 1 in exactly one cell, whatever it holds (one
//              whose score or label is NaN has a cell of its own). Adding or removing it changes one cell by
//              1; replacing it changes at most two by 1. In L1: histogram_sensitivity_l1(relation), 1 or 2.
//              However many cells there are: they are disjoint.
// Guarantee    pure epsilon-DP, delta = 0, for scores of a model that does not depend on these rows, or only
//              through releases that are charged elsewhere. The scale 1 / epsilon is rounded up.
// Beside the two counts of NoisyAccuracyQuery, the accuracy has the noise of half of 37 cells in place of one
// cell's, some four times as much: ask for scores where more than the accuracy is wanted.
// [Dwork14, Thm 3.6]
class NoisyScoresQuery {
 public:
  explicit NoisyScoresQuery(const NoisyAccuracyOptions& options);

  // One score and one label per row; what is released, cell by cell.
  std::vector<double> release(std::span<const double> scores, std::span<const double> labels,
                              RandomSource& random) const;

  // The scale of the noise on each count; its standard deviation is sqrt(2) times that.
  double noise_scale() const { return mechanism_.noise_scale(ScoreHistogram::kCells); }
  Event event() const { return mechanism_.event(); }

 private:
  LaplaceMechanism mechanism_;
};

}  // namespace ration
