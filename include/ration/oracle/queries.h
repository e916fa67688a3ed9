// For extensions: may change between minor versions.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "ration/clipping/any_clip_rule.h"
#include "ration/mechanisms/above_threshold.h"
#include "ration/mechanisms/noisy_max.h"
#include "ration/objectives/fits.h"
#include "ration/objectives/objective.h"
#include "ration/privacy/event.h"

namespace ration {

// What a method may ask the oracle. A query carries its noise relative to its sensitivity, so that its event
// is known before anything is read; the oracle knows the sensitivity.

// The sum of clipped gradients over the batch, plus noise, divided by the public divisor.
struct GradientQuery {
  AnyClipRule clip = AutoS{};   // of each row's gradient
  double noise_multiplier = 1;  // > 0

  // What an answer costs, on the batch it is asked of.
  Event event() const { return Event::gaussian(noise_multiplier); }
};

// The first of a line's points whose loss sum is below that of its start by at least its margin, each row's
// loss clipped into [0, loss_bound].
struct DecreaseQuery {
  double loss_bound = 1;                                                // 1e-200 to 1e200
  std::variant<LaplaceSearch, GaussianSearch> noise = LaplaceSearch{};  // of threshold and comparisons

  // What an answer costs, on the batch it is asked of, for a line of so many points.
  Event event(std::size_t points) const;
};

// The answer to a DecreaseQuery.
struct FirstDecrease {
  std::optional<std::size_t> point;  // none: no point was found
};

// The candidate with the smallest loss sum, each row's loss clipped into [0, loss_bound].
struct MinimumQuery {
  double loss_bound = 1;                          // 1e-200 to 1e200
  double epsilon = 1;                             // > 0
  SelectionNoise noise = SelectionNoise::gumbel;  // of the sums

  // What an answer costs, on the batch it is asked of.
  Event event() const;
};

// The squared norm of the sum of clipped gradients, in units of the divisor squared; at least 0. Only for
// samplers whose batches have a public size.
struct SquaredNormQuery {
  AnyClipRule clip = AutoS{};   // of each row's gradient
  double noise_multiplier = 1;  // > 0

  // What an answer costs, on the batch it is asked of.
  Event event() const { return Event::gaussian(noise_multiplier); }
};

// How many rows of the batch have a gradient no longer than `bound`, over the public divisor.
struct CountQuery {
  double bound = 1;             // > 0
  double noise_multiplier = 1;  // > 0

  // What an answer costs, on the batch it is asked of.
  Event event() const { return Event::gaussian(noise_multiplier); }
};

// The mean of rows of the rows, each shortened to norm `bound`.
struct MeanOfRowsQuery {
  double bound = 1;             // > 0
  double noise_multiplier = 1;  // > 0

  // What an answer costs, on the batch it is asked of.
  Event event() const { return Event::gaussian(noise_multiplier); }
};

// The mean of z z^T, z what is seen of a row, shortened to norm `bound`.
struct SecondMomentQuery {
  double bound = 1;             // > 0
  double noise_multiplier = 1;  // > 0

  // What an answer costs, on the batch it is asked of.
  Event event() const { return Event::gaussian(noise_multiplier); }
};

// A fit of the ridge-regularised objective to all rows, plus noise: output perturbation.
struct OutputQuery {
  AnyFit fit = DescentFit{};    // how it is found
  double ridge = 0.001;         // >= 0
  double row_norm = 1;          // > 0; the bound that the objective enforces must not be larger
  double noise_multiplier = 1;  // > 0

  // What an answer costs, on the batch it is asked of.
  Event event() const { return Event::gaussian(noise_multiplier); }
};

// The minimum of the ridge-regularised objective plus a random linear term: objective perturbation.
struct ObjectiveQuery {
  double ridge = 0.001;         // > 0
  double row_norm = 1;          // > 0; as above
  double noise_multiplier = 1;  // > 0

  // What an answer costs, on the batch it is asked of.
  Event event() const { return Event::gaussian(noise_multiplier); }
};

// How many rows have each label, for losses whose labels are classes.
struct LabelCountsQuery {
  double noise_multiplier = 1;  // > 0

  // What an answer costs, on the batch it is asked of.
  Event event() const { return Event::gaussian(noise_multiplier); }
};

}  // namespace ration
