#pragma once

#include <optional>
#include <span>

#include "mechanisms/laplace.h"
#include "ration/base/random.h"
#include "ration/privacy/event.h"
#include "ration/privacy/relation.h"

namespace ration {

struct NoisyAccuracyOptions {
  double epsilon = 0.1;  // 1e-6 <= epsilon <= 1000
  Relation relation = Relation::add_remove;
};

struct NoisyAccuracy {
  std::optional<double> accuracy;  // in [0, 1]; nothing if the noise left no rows
  double rows = 0;                 // >= 0, and no whole number
  double error = 0;                // of the accuracy: the standard deviation that the noise gives it
};

// 1 / epsilon, rounded up, so that 1 / scale is at most epsilon; `query` is named where epsilon is refused.
double laplace_scale_for(const char* query, double epsilon);

// How often a classifier is right on private rows: a histogram of two cells (right, wrong), released with
// Laplace noise. Everything else is computed from the two noisy counts.
//
// Formula      accuracy = right / (right + wrong), clamped into [0, 1]; rows = right + wrong, at least 0.
// Sensitivity  a row is either right or wrong and counts 1 in that cell, whatever it holds (a label or a
//              prediction that is NaN is wrong). Adding or removing it changes one cell by 1; replacing it
//              changes at most both by 1. In L1: histogram_sensitivity_l1(relation), 1 or 2.
// Guarantee    pure epsilon-DP, delta = 0, for predictions of a model that does not depend on these rows, or
//              only through releases that are charged elsewhere. The scale 1 / epsilon is rounded up.
// Edge cases   no rows are rows too: the answer is noise. The accuracy is off by about sensitivity / (epsilon
//              * rows), and both figures err to either side.
// [Dwork14, Thm 3.6]
class NoisyAccuracyQuery {
 public:
  explicit NoisyAccuracyQuery(const NoisyAccuracyOptions& options);

  // One prediction and one label per row, classes as 0, 1, ...
  NoisyAccuracy release(std::span<const double> predictions, std::span<const double> labels,
                        RandomSource& random) const;

  // The scale of the noise on each of the two counts.
  double noise_scale() const { return mechanism_.noise_scale(2); }
  Event event() const { return mechanism_.event(); }

 private:
  LaplaceMechanism mechanism_;
};

}  // namespace ration
