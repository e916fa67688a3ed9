// For extensions: may change between minor versions.
#pragma once

#include <cstddef>
#include <span>

#include "ration/base/random.h"
#include "ration/privacy/event.h"

namespace ration {

// Which noise is added to the scores.
enum class SelectionNoise {
  exponential,  // permute-and-flip: the better choice for the same epsilon
  gumbel,       // the exponential mechanism: a quarter of the zCDP cost for the same epsilon
};

// One selection.
struct NoisyMaxOptions {
  double sensitivity = 1.0;  // > 0; the most any single score changes between neighbours
  double epsilon = 1.0;      // > 0
  SelectionNoise noise = SelectionNoise::exponential;  // decides which accountants know a better bound
};

// Reports the index of the largest score, or of the smallest loss, after adding noise of scale 2 *
// sensitivity / epsilon to each; nothing but the index is released.
//
// Formula     largest: argmax of score + noise. smallest: argmax of -loss + noise, so the noise is subtracted
//             from the losses. Exponential noise is not symmetric: adding it to the losses lets the
//             probability of a candidate among n fall by exp(epsilon (n - 1)) between neighbours, which is no
//             guarantee at all.
// Guarantee   Scores of neighbours differ by at most D each, some up and some down, so two scores move apart
//             by up to 2 D; the factor 2 in the scale pays for that. Either noise is pure epsilon-DP.
// Exponential is permute-and-flip [McKenna20; Ding21]. It is NOT epsilon-bounded-range: when two candidates
//             with scores D/2 and -D/2 change places, the privacy losses are +-ln(2 exp(epsilon / 2) - 1), a
//             range of nearly 2 epsilon, and zCDP with epsilon^2 / 8 fails (the KL divergence at epsilon = 1
//             is 0.327, not 0.125). Its event, NoisyMax, is charged as pure DP.
// Gumbel      is the exponential mechanism, epsilon-bounded-range and so zCDP with epsilon^2 / 8 [Durfee19;
//             Cesar21]. Its event is BoundedRange. One zCDP budget allows it twice the epsilon, which makes
//             up for the other's better choices (at best twice as good [McKenna20]).
// Edge cases  A score that is not finite is never reported, unless none is finite; then any index is,
//             uniformly. Equal scores are told apart by their noise. No scores at all is an InputError.
// The noise   is real: which of two noisy scores is larger is decided by as many of its digits as it takes,
//             given ideal random bits exactly as above, for scores of any size (docs/proofs/sampler.md).
class NoisyMax {
 public:
  // InputError unless the options obey their inequalities.
  explicit NoisyMax(const NoisyMaxOptions& options);

  // The noisy choice of the largest score.
  std::size_t largest(std::span<const double> scores, RandomSource& random) const;
  // The noisy choice of the smallest loss.
  std::size_t smallest(std::span<const double> losses, RandomSource& random) const;
  // What one selection costs.
  Event event() const;

 private:
  // The larger of sign * score + noise.
  std::size_t select(std::span<const double> scores, double sign, RandomSource& random) const;

  NoisyMaxOptions options_;
};

}  // namespace ration
