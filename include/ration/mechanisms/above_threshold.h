// For extensions: may change between minor versions.
#pragma once

#include <cstdint>
#include <variant>

#include "ration/base/random.h"
#include "ration/privacy/event.h"

namespace ration {

// Laplace noise of scale 1/threshold_epsilon and 1/query_epsilon per unit of sensitivity:
// pure (threshold_epsilon + 2 query_epsilon)-DP. [Chen20, Thm 1, Thm 2]
struct LaplaceSearch {
  double threshold_epsilon = 0.5;  // > 0
  double query_epsilon = 0.25;     // > 0

  // Half of epsilon on the threshold, half on the queries.
  static LaplaceSearch with_epsilon(double epsilon);
};

// Gaussian noise; standard deviations per unit of sensitivity:
// zCDP with rho = 1 / (2 threshold_noise^2) + 2 / query_noise^2. [Chen20, Thm 3]
struct GaussianSearch {
  double threshold_noise = 1.0;  // > 0
  double query_noise = 1.5;      // > 0

  // threshold_noise^2 = 3 / (2 rho), query_noise^2 = 3 / rho.
  static GaussianSearch with_rho(double rho);
};

// One search; its noise is relative to the sensitivity.
struct AboveThresholdOptions {
  double threshold = 0.0;          // finite, public
  double sensitivity = 1.0;        // > 0; the most any single query changes between neighbours
  std::int64_t max_queries = 100;  // >= 1
  std::variant<LaplaceSearch, GaussianSearch> noise = LaplaceSearch{};  // decides the guarantee
};

// One search for the first query above a threshold: each query is asked with fresh noise against one noisy
// threshold, and the search ends at the first yes.
//
// Formula     above(q) = [ q + query noise >= threshold + threshold noise ].
// Guarantee   Let neighbours change every query by at most D, some up and some down. Shift the noisy
//             threshold by D so that each "no" of one data set remains a "no" of the other: that costs the
//             threshold's noise once, for any number of queries, because one and the same threshold serves
//             all of them. The single "yes" must then bear its own change and the threshold's, 2D in all:
//             hence 2 query_epsilon, and (2 D)^2 / (2 s^2) in the Gaussian form. (If all queries moved the
//             same way, D would do; nobody is asked to promise that.) A threshold drawn anew for each query
//             would be charged for each query.
// Relation    The caller passes the sensitivity of its queries under the relation of the run, e.g. 2C for
//             sums of differences of losses clipped to C under replace_one and C under add_remove.
// The event   is the same however many queries were asked, so it can be charged before the first.
// Edge cases  A query that is not finite is never above. After a yes, or after max_queries, the search is
//             finished and asking again throws InputError. Not copyable: two searches must not share a noisy
//             threshold. Answers are single bits, so no grid is needed; queries should stay below 2^40 times
//             the noise, where a double still resolves the sum.
// [Chen20, Alg. 1], [Dwork14, Alg. 1]
class AboveThreshold {
 public:
  // Draws the threshold's noise. The source must outlive the search.
  AboveThreshold(const AboveThresholdOptions& options, RandomSource& random);
  AboveThreshold(const AboveThreshold&) = delete;
  AboveThreshold& operator=(const AboveThreshold&) = delete;

  // Asks the next query; a yes ends the search.
  bool above(double query);
  // Whether no more may be asked.
  bool finished() const { return queries_left_ == 0; }
  // What the whole search costs.
  Event event() const;

 private:
  AboveThresholdOptions options_;
  RandomSource& random_;
  double noisy_threshold_;
  std::int64_t queries_left_;
};

}  // namespace ration
