// For extensions: may change between minor versions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string_view>

#include "ration/clipping/any_clip_rule.h"
#include "ration/objectives/row_view.h"
#include "ration/objectives/weights.h"
#include "ration/sampling/sampler.h"

namespace ration {

// What everybody may know about an objective: its loss, and the bound that was put on its rows. Nothing here
// depends on what a row holds. Infinity: no such bound is known.
struct PublicFacts {
  // No such bound is known.
  static constexpr double kUnknown = std::numeric_limits<double>::infinity();

  std::string_view loss = "unknown";  // its name
  double slope_bound = kUnknown;      // |dl/dz| for every label, z the outputs
  double curvature_bound = kUnknown;  // the Lipschitz constant of dl/dz in z
  bool one_sided = false;             // one output, and dl/dz of a given label has one sign
  double row_norm_bound = kUnknown;   // of every row, enforced
  std::size_t label_classes = 0;      // labels are 0, ..., label_classes - 1; 0: they are no classes
  std::size_t columns = 0;            // of a linear model: how many numbers a row has; 0 of others
  bool single_precision = false;      // sums over rows are rounded to 32 bits on the way
};

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
  // Where the objective is computed: one number per parameter.
  using Parameters = std::span<const double>;

  virtual ~Objective() = default;
  Objective(const Objective&) = delete;
  Objective& operator=(const Objective&) = delete;

  // start - steps[k] * direction, for every k.
  struct Line {
    Parameters start;               // where it begins
    Parameters direction;           // where it comes from: steps go against it
    std::span<const double> steps;  // how far each point is from the start
  };

  // How many rows it is fitted to. Private under add_remove.
  virtual std::size_t rows() const = 0;
  // How many numbers w has.
  virtual std::size_t parameters() const = 0;
  // A bound on the number of roundings that what one row contributes passes through on its way into a sum
  // over at most `rows` rows: what the error of the sum grows with. Does not fall when `rows` grows.
  virtual std::uint64_t longest_chain(std::uint64_t rows) const = 0;

  // How much longer what is computed on the way may be than what comes of it: the rounding of sums of
  // contributions of norm at most C is that of sums of norm at most C times this. At least 1.
  virtual double magnification() const { return 1; }

  // What everybody may know; nothing, unless an objective says more.
  virtual PublicFacts facts() const { return {}; }

  // sum = sum over the batch of factor(|g_i|) g_i, g_i the gradient of l_i at w.
  virtual void clipped_gradient_sum(Parameters w, const Batch& batch, const AnyClipRule& rule,
                                    std::span<double> sum) = 0;
  // The same, for an objective that computes in floats and has the sum in memory of its own, until the next
  // call: millions of numbers need not be converted and copied. Empty, and nothing was computed, if it does
  // not; the other form is then asked. Its longest_chain() counts the roundings of doubles alone, and facts()
  // says so (single_precision).
  virtual std::span<const float> clipped_gradient_float_sum(const AnyWeights& w, const Batch& batch,
                                                            const AnyClipRule& rule);
  // sums[k] = sum over the batch of l_i(candidates[k]) clipped into [0, bound].
  virtual void clipped_loss_sums(std::span<const Parameters> candidates, const Batch& batch, double bound,
                                 std::span<double> sums) = 0;
  // The same at the points start - steps[k] * direction of a line.
  virtual void clipped_loss_sums_along(const Line& line, const Batch& batch, double bound,
                                       std::span<double> sums) = 0;
  // How many rows of the batch have |g_i| <= bound; a row without a finite norm is not one of them.
  virtual std::uint64_t count_norms_at_most(Parameters w, const Batch& batch, double bound) = 0;

  // counts[k] = how many rows of the batch have the label k, for each class.
  virtual void label_counts(const Batch& batch, std::span<double> counts) const;

  // Of linear models; others throw InputError.

  // The same rows seen through a map, with weights for what is seen; whatever they are seen through already,
  // the map is for the rows as they are.
  virtual std::unique_ptr<Objective> seen_through(std::shared_ptr<const RowView> view) const;
  // sum = sum over the batch of x_i min(1, bound / |x_i|), x_i a row, or what is seen of it.
  virtual void shortened_row_sum(const Batch& batch, double bound, std::span<double> sum);
  // upper = the same of x_i x_i^T, x_i shortened first: the upper triangle, row by row. Only of what is seen
  // through a map, which says which columns count.
  virtual void second_moment_sum(const Batch& batch, double bound, std::span<double> upper);

  // For rows that are public: the mean of l_i over all rows, 0 if there are none.
  virtual double mean_loss(Parameters w) = 0;
  // For rows that are public: the predicted class or value of each.
  virtual void predict(Parameters w, std::span<double> predictions) = 0;

 protected:
  Objective() = default;
};

}  // namespace ration
