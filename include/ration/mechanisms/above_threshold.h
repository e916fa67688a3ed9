// For extensions: may change between minor versions.
#pragma once

#include <cstdint>
#include <memory>
#include <variant>

#include "ration/base/random.h"
#include "ration/privacy/event.h"

namespace ration {

class RealDraw;  // base/real_draw.h, of the library itself

// Laplace noise of scale 1/threshold_epsilon and 1/query_epsilon per unit of sensitivity:
// pure (threshold_epsilon + 2 query_epsilon)-DP for any number of queries. [Chen20, Thm 1]
struct LaplaceSearch {
  double threshold_epsilon = 0.5;  // > 0
  double query_epsilon = 0.25;     // > 0

  // Half of epsilon on the threshold, half on the queries.
  static LaplaceSearch with_epsilon(double epsilon);
};

// Gaussian noise; standard deviations per unit of sensitivity. What it costs grows with the number of queries
// (slowly: with its logarithm), so it is not known from the noise alone.
struct GaussianSearch {
  double threshold_noise = 1.0;  // > 0
  double query_noise = 1.5;      // > 0
};

// One search; its noise is relative to the sensitivity.
struct AboveThresholdOptions {
  double threshold = 0.0;          // finite, public
  double sensitivity = 1.0;        // > 0; the most any single query changes between neighbours
  std::int64_t max_queries = 100;  // >= 1; Gaussian noise: charged for all of them
  std::variant<LaplaceSearch, GaussianSearch> noise = LaplaceSearch{};  // decides the guarantee
};

// One search for the first query above a threshold: each query is asked with fresh noise against one noisy
// threshold, and the search ends at the first yes.
//
// Formula     above(q) = [ q + query noise >= threshold + threshold noise ].
// Guarantee   Let neighbours change every query by at most D, some up and some down. Shift the noisy
//             threshold by D so that each "no" is at least as likely on the other data set: that costs the
//             threshold's noise once, for any number of queries, because one and the same threshold serves
//             all of them. The single "yes" must then bear its own change and the threshold's, 2D in all.
//             Where a ratio of probabilities is bounded, as with Laplace noise, that is the whole proof:
//             pure (e1 + 2 e2)-DP. (If all queries moved the same way, D would do; nobody is asked to
//             promise that.) A threshold drawn anew for each query would be charged for each query.
// Gaussian    noise does not bound that ratio: the farther a query lies below the threshold, the rarer its
//             yes and the more it tells, and many such queries make one of the yeses likely. So there is no
//             bound for any number of queries; [Chen20, Thm 3] claims one, and is false
//             (docs/pitfalls.md#mechanisms). Charged is the worst over all sequences of at most max_queries
//             queries, with the threshold shifted by the best part of D (docs/proofs/above-threshold.md).
// Relation    The caller passes the sensitivity of its queries under the relation of the run, e.g. 2C for
//             sums of differences of losses clipped to C under replace_one and C under add_remove.
// The event   is the same however many of the max_queries were asked, so it can be charged before the first.
// Edge cases  A query that is not finite is never above. After a yes, or after max_queries, the search is
//             finished and asking again throws InputError. Not copyable: two searches must not share a noisy
//             threshold. Answers are single bits, so no grid is needed.
// The noise   is real: whether a query is above is decided by as many of its digits as it takes, given ideal
//             random bits exactly by the formula, for queries of any size (docs/proofs/sampler.md).
// [Chen20, Alg. 1], [Dwork14, Alg. 1]
class AboveThreshold {
 public:
  // Draws the threshold's noise. The source must outlive the search.
  AboveThreshold(const AboveThresholdOptions& options, RandomSource& random);
  AboveThreshold(const AboveThreshold&) = delete;
  AboveThreshold& operator=(const AboveThreshold&) = delete;
  ~AboveThreshold();

  // Asks the next query; a yes ends the search.
  bool above(double query);
  // Whether no more may be asked.
  bool finished() const { return queries_left_ == 0; }
  // What the whole search costs.
  Event event() const;

 private:
  AboveThresholdOptions options_;
  RandomSource& random_;
  std::unique_ptr<RealDraw> threshold_noise_;
  std::int64_t queries_left_;
};

}  // namespace ration
