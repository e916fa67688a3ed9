#include "ration/train/training.h"

#include <fmt/format.h>

#include <utility>

#include "ration/base/check.h"
#include "ration/base/error.h"
#include "ration/oracle/row_count.h"

namespace ration {
namespace {

// The steps that are left follow those that were done; lost ones are left out.
GradientDescentOptions remaining(const ResolvedPlan& plan, const TrainingState& from) {
  GradientDescentOptions options = plan.method;
  const std::int64_t done = steps_done(from);
  if (!(0 <= done && done <= from.charged && from.charged <= plan.steps())) {
    throw InputError(fmt::format("checkpoint: expected 0 <= steps done <= steps charged <= {}, got {} and {}",
                                 plan.steps(), done, from.charged));
  }
  options.noise.erase(options.noise.begin() + done, options.noise.begin() + from.charged);
  return options;
}

}  // namespace

std::int64_t steps_done(const TrainingState& state) {
  const auto step = state.method.find("step");
  if (step == state.method.end()) return 0;
  if (step->second.size() != 1) throw InputError("checkpoint: expected one number of steps done");
  return static_cast<std::int64_t>(
      require("checkpoint", "steps done", step->second[0], at_least(0).at_most(0x1p53)));
}

Training::Training(const ResolvedPlan& plan, std::shared_ptr<const Rows> rows, const GlmOptions& model,
                   RandomSource& random, const TrainingState& from)
    : plan_(plan),
      objective_(make_glm(std::move(rows), model)),
      filter_(make_plan_filter(plan.event(), plan.accountant, plan.budget, plan.relation)),
      declared_rows_(declare_rows(from, random)),
      sampler_(plan.make_sampler({.rows = objective_->rows(), .declared_rows = declared_rows_})),
      oracle_(std::make_unique<PrivateOracle>(*objective_, *sampler_, *filter_, random)),
      method_(make_gradient_descent(remaining(plan, from), objective_->parameters())),
      charged_(from.charged),
      done_(ration::steps_done(from)) {
  if (from.charged > 0) oracle_->recall(plan.steps_event(from.charged));
  if (!from.method.empty()) method_->restore(from.method);
}

double Training::declare_rows(const TrainingState& from, RandomSource& random) {
  const auto rows = static_cast<double>(objective_->rows());
  if (plan_.relation == Relation::replace_one && plan_.plan.rows.value_or(rows) != rows) {
    throw InputError(fmt::format("plan: expected rows = {} under replace_one, which the file has, got {}",
                                 rows, *plan_.plan.rows));
  }
  if (!plan_.count_noise) return plan_.plan.rows.value_or(rows);
  if (from.noisy_rows) {
    if (!filter_->spend(Event::gaussian(*plan_.count_noise)))
      throw InternalError("training: the count does not fit");
    return *from.noisy_rows;
  }
  if (from.charged > 0) throw InputError("checkpoint: the count of the rows is missing");
  const auto counted = noisy_row_count(objective_->rows(), *plan_.count_noise, *filter_, random);
  if (!counted) throw InternalError("training: the plan's own count does not fit its budget");
  return *counted;
}

bool Training::step() {
  if (!method_->step(*oracle_)) return false;
  ++charged_;
  ++done_;
  return true;
}

std::vector<double> Training::weights() const {
  std::vector<double> weights(objective_->parameters(), 0.0);
  method_->weights(weights);
  return weights;
}

TrainingState Training::save() const {
  return {.charged = charged_,
          .noisy_rows = plan_.count_noise ? std::optional(declared_rows_) : std::nullopt,
          .method = method_->save()};
}

}  // namespace ration
