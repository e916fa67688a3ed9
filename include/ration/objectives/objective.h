#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "ration/clipping/any_clip_rule.h"
#include "ration/sampling/sampler.h"

namespace ration {

// A model family and the rows it is fitted to: f(w) = sum_i l_i(w), and what the oracle may ask about it.
//
// The sums are exact, not private: only the oracle calls them, and adds the noise. What one row contributes
// is bounded, whatever the row holds, so the sums obey the figures of clipping/sensitivity.h; every objective
// runs the conformance suite (tests/objectives) that checks this. Regularisation depends on no row and is
// added after the noise, elsewhere.
//
// Guarantee   the result does not depend on the number of threads. Once warm, a batch that is not worth a
//             second thread costs no allocation.
// Edge cases  an empty batch gives zeros. A row whose gradient norm (or loss) is NaN or infinite contributes
//             0. Spans whose sizes do not fit, and batches of rows that do not exist, throw InputError. Not
//             thread-safe: an objective owns its scratch memory.
class Objective {
 public:
  using Parameters = std::span<const double>;

  virtual ~Objective() = default;
  Objective(const Objective&) = delete;
  Objective& operator=(const Objective&) = delete;

  // start - steps[k] * direction, for every k.
  struct Line {
    Parameters start;
    Parameters direction;
    std::span<const double> steps;
  };

  virtual std::size_t rows() const = 0;
  virtual std::size_t parameters() const = 0;
  // A bound on the number of roundings that what one row contributes passes through on its way into a sum
  // over at most `rows` rows: what the error of the sum grows with. Does not fall when `rows` grows.
  virtual std::uint64_t longest_chain(std::uint64_t rows) const = 0;

  // sum = sum over the batch of factor(|g_i|) g_i, g_i the gradient of l_i at w.
  virtual void clipped_gradient_sum(Parameters w, const Batch& batch, const AnyClipRule& rule,
                                    std::span<double> sum) = 0;
  // sums[k] = sum over the batch of l_i(candidates[k]) clipped into [0, bound].
  virtual void clipped_loss_sums(std::span<const Parameters> candidates, const Batch& batch, double bound,
                                 std::span<double> sums) = 0;
  // The same at the points start - steps[k] * direction of a line.
  virtual void clipped_loss_sums_along(const Line& line, const Batch& batch, double bound,
                                       std::span<double> sums) = 0;
  // How many rows of the batch have |g_i| <= bound; a row without a finite norm is not one of them.
  virtual std::uint64_t count_norms_at_most(Parameters w, const Batch& batch, double bound) = 0;

  // For rows that are public: the mean of l_i over all rows (0 if there are none), and for each row the
  // predicted class or value.
  virtual double mean_loss(Parameters w) = 0;
  virtual void predict(Parameters w, std::span<double> predictions) = 0;

 protected:
  Objective() = default;
};

}  // namespace ration
