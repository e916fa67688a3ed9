#include "train/training.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/check.h"
#include "oracle/row_count.h"
#include "oracle/row_mean.h"
#include "ration/base/error.h"
#include "train/without_privacy.h"

namespace ration {
namespace {

void require_in_order(const ResolvedPlan& plan, const StepsSoFar& so_far) {
  const std::int64_t most = plan.fixed() != nullptr ? plan.steps() : so_far.done;
  if (0 <= so_far.done && so_far.done <= so_far.charged && so_far.charged <= most) return;
  throw InputError(fmt::format("checkpoint: expected 0 <= steps done <= steps charged <= {}, got {} and {}",
                               most, so_far.done, so_far.charged));
}

std::unique_ptr<Method> make_method(const ResolvedPlan& plan, Objective& objective, const ModelShape& model,
                                    const StepsSoFar& so_far) {
  require_in_order(plan, so_far);
  return std::visit(
      Overloaded{
          [&](const std::shared_ptr<const FixedMethod>& method) { return method->make(model, so_far); },
          [&](const std::shared_ptr<const AdaptiveMethod>& method) { return method->make(model); },
          [&](const WithoutPrivacy& method) {
            return make_fit_without_privacy(objective, method, model.start);
          }},
      plan.method);
}

}  // namespace

namespace {

double asked_count(const ResolvedPlan& plan, std::uint64_t rows, BudgetFilter& filter, RandomSource& random) {
  const auto counted = noisy_row_count(rows, *plan.count_noise, filter, random);
  if (!counted) throw InternalError("training: the plan's own count does not fit its budget");
  return *counted;
}

// A row of features in [0, 1], or of mean square at most 1, is no longer than this.
double longest_row(const Rows& rows) {
  return std::sqrt(static_cast<double>(std::max<std::size_t>(1, rows.columns())));
}

}  // namespace

void ask_for_mean(const ResolvedPlan& plan, const Rows& rows, TrainingState& state, RandomSource& random) {
  if (!plan.mean_noise || state.row_mean) return;
  if (state.charged > 0) throw InputError("checkpoint: the mean of the rows is missing");
  require_declared_rows(plan, rows.count());
  const auto filter = plan.make_budget_filter();
  if (plan.count_noise && !state.noisy_rows) {
    state.noisy_rows = asked_count(plan, rows.count(), *filter, random);
  } else if (!filter->spend(plan.count_event())) {
    throw InternalError("training: the count does not fit");
  }
  const auto count = static_cast<double>(rows.count());
  const double declared = state.noisy_rows.value_or(plan.plan.rows.value_or(std::max(1.0, count)));
  state.row_mean = noisy_row_mean(rows, {.bound = longest_row(rows), .noise_multiplier = *plan.mean_noise},
                                  declared, plan.relation, *filter, random);
  if (!state.row_mean) throw InternalError("training: the plan's own mean does not fit its budget");
}

std::int64_t steps_done(const TrainingState& state) {
  const auto step = state.method.find("step");
  if (step == state.method.end()) return 0;
  if (step->second.size() != 1) throw InputError("checkpoint: expected one number of steps");
  return static_cast<std::int64_t>(
      require("checkpoint", "step", step->second.front(), at_least(0).at_most(0x1p53)));
}

void require_declared_rows(const ResolvedPlan& plan, std::uint64_t rows) {
  const auto count = static_cast<double>(rows);
  if (plan.relation == Relation::add_remove || plan.plan.rows.value_or(count) == count) return;
  throw InputError(fmt::format("plan: expected rows = {} under replace_one, which the file has, got {}",
                               count, *plan.plan.rows));
}

Training::Training(const ResolvedPlan& plan, std::shared_ptr<const Rows> rows, const GlmOptions& model,
                   RandomSource& random, const TrainingState& from)
    : Training(plan, make_glm(rows, model),
               {.columns = rows->columns(), .outputs = model.loss == GlmLoss::softmax ? model.classes : 1},
               random, from, model.threads) {}

Training::Training(const ResolvedPlan& plan, std::unique_ptr<Objective> objective, ModelShape shape,
                   RandomSource& random, const TrainingState& from, std::size_t threads)
    : plan_(plan),
      shape_(std::move(shape)),
      objective_(std::move(objective)),
      filter_(plan.make_budget_filter()),
      declared_rows_(declare_rows(from, random)),
      row_mean_(recall_mean(from)),
      sampler_(plan.make_sampler({.rows = objective_->rows(), .declared_rows = declared_rows_})),
      oracle_(std::make_unique<PrivateOracle>(*objective_, *sampler_, *filter_, random, threads)),
      method_(make_method(plan, *objective_, shape_, {ration::steps_done(from), from.charged})),
      charged_(from.charged),
      done_(ration::steps_done(from)) {
  oracle_->recall(from.released.value_or(plan.steps_event(from.charged)));
  if (!from.method.empty()) method_->restore(from.method);
}

double Training::declare_rows(const TrainingState& from, RandomSource& random) {
  require_declared_rows(plan_, objective_->rows());
  const auto rows = static_cast<double>(objective_->rows());
  if (!plan_.count_noise) return plan_.plan.rows.value_or(rows);
  if (from.noisy_rows) {
    if (!filter_->spend(plan_.count_event())) throw InternalError("training: the count does not fit");
    return *from.noisy_rows;
  }
  if (from.charged > 0) throw InputError("checkpoint: the count of the rows is missing");
  return asked_count(plan_, objective_->rows(), *filter_, random);
}

std::optional<std::vector<double>> Training::recall_mean(const TrainingState& from) {
  if (!plan_.mean_noise) return std::nullopt;
  if (!from.row_mean) throw InputError("checkpoint: the mean of the rows is missing");
  if (!filter_->spend(plan_.mean_event())) throw InternalError("training: the mean does not fit");
  return from.row_mean;
}

bool Training::step() {
  if (!method_->step(*oracle_)) return false;
  ++charged_;
  ++done_;
  return true;
}

Event Training::released() const {
  if (plan_.fixed() != nullptr) return plan_.event(charged_);
  return Event::composed({plan_.count_event(), plan_.mean_event(), oracle_->released()});
}

std::vector<double> Training::weights() const {
  std::vector<double> weights = shape_.start;
  weights.resize(objective_->parameters(), 0.0);
  method_->weights(weights);
  return weights;
}

TrainingState Training::save() const {
  return {.charged = charged_,
          .noisy_rows = plan_.count_noise ? std::optional(declared_rows_) : std::nullopt,
          .row_mean = row_mean_,
          .released = plan_.fixed() != nullptr ? std::nullopt : std::optional(oracle_->released()),
          .method = method_->save()};
}

}  // namespace ration
