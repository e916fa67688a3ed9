#include "train/training.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/check.h"
#include "objectives/blank_rows.h"
#include "oracle/row_count.h"
#include "oracle/row_mean.h"
#include "privacy/sampler_delta.h"
#include "ration/base/error.h"
#include "train/model_objective.h"
#include "train/model_shape.h"
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

// Under replace_one the number of rows is public.
void require_declared_rows(const ResolvedPlan& plan, std::uint64_t rows) {
  const auto count = static_cast<double>(rows);
  if (plan.relation == Relation::add_remove || plan.plan.rows.value_or(count) == count) return;
  throw data::PublicFault(fmt::format("plan: expected {} = {} under replace_one, which the file has, got {}",
                                      plan.plan.unit.empty() ? "rows" : "units", count, *plan.plan.rows));
}

// What a state with steps must hold.
void require_not_lost(const TrainingState& from, const char* what) {
  if (from.charged > 0) throw InputError(fmt::format("checkpoint: the {} of the rows is missing", what));
}

// As the method has it.
std::shared_ptr<const Units> units_for(const ResolvedPlan& plan, const RowTransform& rows) {
  if (plan.plan.unit.empty() != !rows.units())
    throw InternalError("training: expected the rows' units if and only if the plan protects a unit");
  if (!rows.units()) return nullptr;
  const UnitForm form = recipe_of(plan.plan.method).units;
  if (form == UnitForm::none) throw InternalError("training: a method without a unit form was let through");
  return std::make_shared<const Units>(rows.units()->weighed(form == UnitForm::even));
}

std::unique_ptr<Objective> objective_for(const ResolvedPlan& plan, const Model& model, RowTransform& rows,
                                         const std::optional<std::vector<double>>& mean,
                                         const Hardware& hardware) {
  if (mean) rows.add(centring_stage(*mean));
  auto units = units_for(plan, rows);
  return with_blank_rows(make_objective(model, rows.share_rows(), hardware, Labels::used, std::move(units)),
                         rows.left_out());
}

void require_deliverable_for(const ResolvedPlan& plan, std::size_t parameters) {
  if (!plan.is_private()) return;
  const TableSize table{.rows = 0, .declared_rows = plan.plan.rows.value_or(1)};
  require_deliverable(plan.budget, plan.random_words(static_cast<double>(parameters),
                                                     static_cast<double>(table.most_rows())));
}

// Refuses what the random numbers cannot deliver before anything is released.
std::unique_ptr<BudgetFilter> filter_of_deliverable(const ResolvedPlan& plan, std::size_t parameters) {
  require_deliverable_for(plan, parameters);
  return plan.make_budget_filter();
}

bool is_finite(const WeightNoise& noise) {
  for (const auto* const part : {&noise.centre, &noise.factor, &noise.covariance}) {
    for (const double value : *part) {
      if (!std::isfinite(value)) return false;
    }
  }
  return true;
}

RowTransform with_stages_of(const Model& model, RowTransform rows) {
  rows.add_stages_of(model);
  return rows;
}

}  // namespace

void require_deliverable_by(const ResolvedPlan& plan, const Model& model) {
  require_deliverable_for(plan, parameters(model));
}

std::int64_t steps_done(const TrainingState& state) {
  const auto step = state.method.find("step");
  if (step == state.method.end()) return 0;
  if (step->second.size() != 1) throw InputError("checkpoint: expected one number of steps");
  return static_cast<std::int64_t>(
      require("checkpoint", "step", step->second.front(), at_least(0).at_most(0x1p53)));
}

Training::Training(const ResolvedPlan& plan, const Model& model, RowTransform rows, RandomSource& random,
                   const TrainingState& from, const Hardware& hardware)
    : plan_(plan),
      rows_(with_stages_of(model, std::move(rows))),
      shape_(shape_of(model, rows_.rows().columns(), random)),
      filter_(filter_of_deliverable(plan, shape_.parameters())),
      declared_rows_(ask_for_count(from, random)),
      row_mean_(ask_for_mean(from, random)),
      objective_(objective_for(plan, model, rows_, row_mean_, hardware)),
      sampler_(plan.make_sampler({.rows = objective_->rows(), .declared_rows = declared_rows_})),
      oracle_(std::make_unique<PrivateOracle>(*objective_, *sampler_, *filter_, random, hardware.threads)),
      method_(make_method(plan, *objective_, shape_, {ration::steps_done(from), from.charged})),
      charged_(from.charged),
      lost_(from.charged - ration::steps_done(from)) {
  require_deliverable(plan_.budget, random_words());  // again: the number of rows may have been asked since
  oracle_->recall(from.released.value_or(plan.steps_event(from.charged)), from.assumed);
  if (!from.method.empty()) method_->restore(from.method);
}

void Training::charge_known_answer(const Event& event) {
  if (!filter_->spend(event)) throw InternalError("training: a first answer does not fit the plan's budget");
}

double Training::ask_for_count(const TrainingState& from, RandomSource& random) {
  const std::size_t rows = rows_.count();
  require_declared_rows(plan_, rows);
  if (!plan_.count_noise) return plan_.plan.rows.value_or(static_cast<double>(rows));
  if (from.noisy_rows) {
    charge_known_answer(plan_.count_event());
    return *from.noisy_rows;
  }
  require_not_lost(from, "count");
  const auto count = noisy_row_count(rows, *plan_.count_noise, *filter_, random);
  if (!count) throw InternalError("training: the plan's own count does not fit its budget");
  return *count;
}

std::optional<std::vector<double>> Training::ask_for_mean(const TrainingState& from, RandomSource& random) {
  if (!plan_.mean_noise) return std::nullopt;
  if (from.row_mean) {
    charge_known_answer(plan_.mean_event());
    return from.row_mean;
  }
  require_not_lost(from, "mean");
  auto mean = noisy_row_mean(
      rows_.rows(), {.bound = longest_row(rows_.rows().columns()), .noise_multiplier = *plan_.mean_noise},
      std::max(1.0, declared_rows_), plan_.relation, *filter_, random);
  if (!mean) throw InternalError("training: the plan's own mean does not fit its budget");
  return mean;
}

bool Training::step() {
  if (!method_->step(*oracle_)) return false;
  ++charged_;
  return true;
}

double Training::random_words() const {
  if (!plan_.is_private()) return 0;
  double asked = 0;
  for (const CountedEvent& one : flatten(oracle_->released())) asked += static_cast<double>(one.count);
  return plan_.random_words(static_cast<double>(objective_->parameters()),
                            static_cast<double>(sampler_->most_rows()), asked);
}

Progress Training::progress() const {
  return {.step = report(), .charged = charged_, .total = plan_.steps(), .budget_share = spent_share()};
}

Event Training::released() const {
  if (plan_.fixed() != nullptr) return plan_.event(charged_);
  return Event::composed({plan_.count_event(), plan_.mean_event(), oracle_->released()});
}

std::vector<double> Training::weights() const {
  std::vector<double> weights = shape_.start;
  weights.resize(objective_->parameters(), 0.0);
  method_->weights(weights);
  rows_.undo(weights);
  return weights;
}

// A stage is undone by an affine map; noise sees its linear part.
std::optional<WeightNoise> Training::weight_noise() const {
  auto known = method_->known_noise();
  if (!known) return std::nullopt;
  rows_.undo(known->centre);
  std::vector<double> zero(shape_.columns, 0.0);
  rows_.undo(zero);
  for (std::size_t first = 0; first < known->factor.size(); first += shape_.columns) {
    const auto direction = std::span(known->factor).subspan(first, shape_.columns);
    rows_.undo(direction);
    for (std::size_t j = 0; j < shape_.columns; ++j) direction[j] -= zero[j];
  }
  WeightNoise noise{.centre = std::move(known->centre),
                    .directions = known->directions,
                    .factor = std::move(known->factor),
                    .covariance = std::move(known->covariance)};
  if (!is_finite(noise)) return std::nullopt;
  return noise;
}

TrainingState Training::save() const {
  return {.charged = charged_,
          .noisy_rows = plan_.count_noise ? std::optional(declared_rows_) : std::nullopt,
          .row_mean = row_mean_,
          .released = plan_.fixed() != nullptr ? std::nullopt : std::optional(oracle_->released()),
          .assumed = oracle_->assumed(),
          .method = method_->save()};
}

}  // namespace ration
