#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "methods/method.h"
#include "ration/base/random.h"
#include "ration/data/rows.h"
#include "ration/oracle/oracle.h"
#include "ration/train/resolve.h"
#include "train/method_plan.h"

namespace ration {

// Where a run stands, without its rows: what a checkpoint stores.
struct TrainingState {
  std::int64_t charged = 0;                       // steps that are paid for, whether or not they were taken
  std::optional<double> noisy_rows{};             // the answer to the count of rows, if there was one
  std::optional<std::vector<double>> row_mean{};  // the answer to the mean of the rows, likewise
  std::optional<Event> released{};  // by a method that chooses as it goes; a plan's follows from `charged`
  MethodState method{};
};

std::int64_t steps_done(const TrainingState& state);

// Asks for the mean of the rows, and for their number, which it needs, where the plan wants the mean and the
// state has none; the answers go into the state. What is given to a Training afterwards are rows less that
// mean (train/centre.h).
void ask_for_mean(const ResolvedPlan& plan, const Rows& rows, TrainingState& state, RandomSource& random);

// Under replace_one the number of rows is public, and a plan that declares another one is refused with
// InputError.
void require_declared_rows(const ResolvedPlan& plan, std::uint64_t rows);

// One run in memory: a resolved plan at work on rows. Nothing here writes a file.
//
// Order       everything is charged to a filter: of a fixed method's events it grants exactly those, of
//             others what fits the budget.
// Resuming    a fixed method's steps that were paid for but whose outcome was lost are not repeated: the
//             method goes on from its state with the plan's remaining steps, so nothing is ever released on
//             credit, and noise is always fresh.
class Training {
 public:
  // The plan, rows and random source must outlive the training. Under add_remove the number of rows is asked
  // privately unless the plan declares it. InputError if the plan declares another number of rows under
  // replace_one. `threads`, 0 being one per processor, are those that draw the noise (oracle.h).
  Training(const ResolvedPlan& plan, std::unique_ptr<Objective> objective, ModelShape shape,
           RandomSource& random, const TrainingState& from = {}, std::size_t threads = 1);
  // Of a linear model.
  Training(const ResolvedPlan& plan, std::shared_ptr<const Rows> rows, const GlmOptions& model,
           RandomSource& random, const TrainingState& from = {});

  // False when the plan is done, or the budget refuses what the method would ask next.
  [[nodiscard]] bool step();
  StepReport report() const { return method_->report(); }
  double spent_share() const { return filter_->spent_share(); }
  // Of the steps, those that are done or lost.
  std::int64_t charged() const { return charged_; }
  // 0 if nobody knows.
  std::int64_t total() const { return plan_.steps(); }
  std::int64_t steps_done() const { return done_; }
  double divisor_rows() const { return declared_rows_; }
  // Of the rows as they were, if the plan asks for it.
  const std::optional<std::vector<double>>& row_mean() const { return row_mean_; }
  PublicFacts facts() const { return objective_->facts(); }

  Event released() const;
  std::vector<double> weights() const;
  TrainingState save() const;

 private:
  double declare_rows(const TrainingState& from, RandomSource& random);
  std::optional<std::vector<double>> recall_mean(const TrainingState& from);

  const ResolvedPlan& plan_;
  ModelShape shape_;
  std::unique_ptr<Objective> objective_;
  std::unique_ptr<BudgetFilter> filter_;
  double declared_rows_;
  std::optional<std::vector<double>> row_mean_;
  std::unique_ptr<Sampler> sampler_;
  std::unique_ptr<PrivateOracle> oracle_;
  std::unique_ptr<Method> method_;
  std::int64_t charged_;
  std::int64_t done_;
};

}  // namespace ration
