#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "methods/method.h"
#include "ration/base/random.h"
#include "ration/objectives/network.h"
#include "ration/oracle/oracle.h"
#include "ration/train/model.h"
#include "ration/train/resolve.h"
#include "ration/train/run.h"
#include "train/method_plan.h"
#include "train/row_transform.h"

namespace ration {

// Where a run stands, without its rows: what a checkpoint stores.
struct TrainingState {
  std::int64_t charged = 0;                       // steps that are paid for, whether or not they were taken
  std::optional<double> noisy_rows{};             // the answer to the count of rows, if there was one
  std::optional<std::vector<double>> row_mean{};  // the answer to the mean of the rows, likewise
  std::optional<Event> released{};     // by a method that chooses as it goes; a plan's follows from `charged`
  std::vector<std::string> assumed{};  // by the answers so far (oracle.h)
  MethodState method{};
};

std::int64_t steps_done(const TrainingState& state);

// Throws InputError if the random numbers of such a run may take more of delta than is kept for them. Knows
// public facts only, so it can be asked before a row is read (privacy/sampler_delta.h).
void require_deliverable_by(const ResolvedPlan& plan, const Model& model);

// One run in memory: a resolved plan at work on rows. Nothing here writes a file.
//
// Order       the number of the rows and their mean, where the plan asks for them; then what happens to the
//             rows (train/row_transform.h), the objective, the steps. Everything is charged to one filter: of
//             a fixed method's events it grants exactly those, of others what fits the budget.
// Resuming    an answer that the state holds is charged and not asked again. A fixed method's steps that were
//             paid for but whose outcome was lost are not repeated: the method goes on from its state with
//             the plan's remaining steps, so nothing is ever released on credit, and noise is always fresh.
class Training {
 public:
  // The plan and the random source must outlive the training. Under add_remove the number of rows is asked
  // privately unless the plan declares it. InputError if the plan declares another number of rows under
  // replace_one. The hardware's threads draw the noise, too (oracle.h).
  Training(const ResolvedPlan& plan, const Model& model, RowTransform rows, RandomSource& random,
           const TrainingState& from = {}, const Hardware& hardware = {.threads = 1});

  // Tells this observer of every gradient from now on; it must outlive the training.
  void watch(ReleaseObserver& observer) { oracle_->watch(observer); }

  // False when the plan is done, or the budget refuses what the method would ask next.
  [[nodiscard]] bool step();
  StepReport report() const { return method_->report(); }
  double spent_share() const { return filter_->spent_share(); }
  Progress progress() const;
  // Of the steps, those that are done or lost.
  std::int64_t charged() const { return charged_; }
  std::int64_t steps_done() const { return charged_ - lost_; }
  // Of a fixed method's steps, those that are neither.
  std::int64_t steps_left() const { return plan_.steps() - charged_; }
  double divisor_rows() const { return declared_rows_; }
  // How many random words the run takes at most, on average; public.
  double random_words() const;
  PublicFacts facts() const { return objective_->facts(); }
  const std::vector<std::string>& assumed() const { return oracle_->assumed(); }

  Event released() const;
  // For rows as they came in.
  std::vector<double> weights() const;
  // What noise did to them, if the method knows.
  std::optional<WeightNoise> weight_noise() const;
  TrainingState save() const;

 private:
  double ask_for_count(const TrainingState& from, RandomSource& random);
  std::optional<std::vector<double>> ask_for_mean(const TrainingState& from, RandomSource& random);
  void charge_known_answer(const Event& event);

  const ResolvedPlan& plan_;
  RowTransform rows_;
  ModelShape shape_;
  std::unique_ptr<BudgetFilter> filter_;
  double declared_rows_;
  std::optional<std::vector<double>> row_mean_;
  std::unique_ptr<Objective> objective_;
  std::unique_ptr<Sampler> sampler_;
  std::unique_ptr<PrivateOracle> oracle_;
  std::unique_ptr<Method> method_;
  std::int64_t charged_;
  std::int64_t lost_;  // before this training began
};

}  // namespace ration
