#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "audit/canaries.h"
#include "ration/objectives/objective.h"
#include "ration/oracle/release_observer.h"
#include "ration/train/model.h"
#include "ration/train/resolve.h"

namespace ration::audit {

// What an attacker computes for each canary from what a run released: a number that is larger if the canary
// was there.

// Sees the model alone. The score is how much better the model fits the canary than its twin, or how well it
// fits the canary if there is no twin: for a linear model a function of the canary's margin.
class BlackBox {
 public:
  BlackBox(const Model& untrained, std::span<const Canary> canaries);

  void score(const Model& trained, std::span<double> scores);

 private:
  struct Target {
    std::unique_ptr<Objective> row;
    std::unique_ptr<Objective> twin;  // null if there is none
  };
  std::vector<Target> targets_;
};

// Sees every noisy gradient and the weights it was asked at. Knows everything but whether the canary was
// there: the other rows, the clip rule, the noise and the sampling rate q.
//
// Formula     a canary whose clipped gradient is p adds p to the sum with probability q, and the other rows
//             add q times theirs on average. With z the noisy sum less that average, the score adds up
//               log(1 - q + q exp((<z, p> - |p|^2 / 2) / s^2))
//             over the gradients, less the same for the twin: the likelihood ratio, if all rows are drawn or
//             the others' gradients are zero. For other tables it is a score like any other.
class WhiteBox final : public ReleaseObserver {
 public:
  // `common`: the rows that are there in any case; null if they pull at nothing.
  WhiteBox(const ResolvedPlan& plan, const Model& untrained, std::span<const Canary> canaries,
           const SharedRows& common);

  void begin();
  void on_gradient(const ReleasedGradient& gradient) override;
  // False if the run released no gradient: there is nothing to see but the model.
  bool saw_any() const { return seen_ > 0; }
  std::span<const double> scores() const { return scores_; }

 private:
  struct Seen {
    std::unique_ptr<Objective> as_it_is;   // null if there is none
    std::unique_ptr<Objective> through{};  // the run's map; null if it has none

    Objective& now() const { return through ? *through : *as_it_is; }
    void look_through(const std::shared_ptr<const RowView>& view) {
      through = as_it_is && view ? as_it_is->seen_through(view) : nullptr;
    }
  };
  struct Target {
    Seen row;
    Seen twin;
  };
  double evidence_of(Objective& row, const ReleasedGradient& gradient);
  // From now on rows are seen as the run sees them.
  void look_through(const std::shared_ptr<const RowView>& view);

  double rate_;
  std::vector<Target> targets_;
  Seen common_;
  std::shared_ptr<const RowView> view_;
  std::size_t seen_ = 0;
  std::vector<double> scores_;
  std::vector<double> sum_;   // the noisy one, less what the others add on average
  std::vector<double> pull_;  // of one row
};

}  // namespace ration::audit
