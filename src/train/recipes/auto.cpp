#include "train/recipes/auto.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "methods/auto/label_mean.h"
#include "ration/base/error.h"
#include "train/recipes/settings.h"
#include "train/recipes/single_release.h"
#include "train/signal.h"

namespace ration {
namespace {

// Rows times mu below which a model is mostly noise, and the frequencies of the classes are a better answer.
constexpr double kLeastSignal = 70;

bool carries_a_model(const Plan& plan) {
  const auto signal = signal_of(plan);
  return !signal || *signal >= kLeastSignal;
}

std::optional<Substitute> substitute(const Plan& plan) {
  if (plan.model.is_network()) return Substitute{MethodKind::dpsgd, "the model is a network"};
  if (plan.model.sees_scattering()) return Substitute{MethodKind::dpsgd, "rows are scattered images"};
  if (plan.model != GlmLoss::squared && !carries_a_model(plan)) {
    return Substitute{MethodKind::majority,
                      fmt::format("{} rows are too few for a model at this budget", show(*plan.rows))};
  }
  return std::nullopt;
}

bool sees_all_rows(const Plan& plan) {
  const bool knows_no_samples = plan.accountant == Accountant::gdp || plan.accountant == Accountant::zcdp;
  return plan.sampling == Sampling::full || knows_no_samples;
}

// By the declared rows alone, unless the plan says otherwise. Under replace_one, only batches of a fixed size
// have a theorem.
void choose_rows_of_a_step(Plan& plan) {
  if (plan.rate || plan.batch) return;
  plan.rate = sees_all_rows(plan) ? 1 : std::min(1.0, kMostRowsOfAStep / plan.rows.value_or(1));
  if (*plan.rate < 1 && plan.relation == Relation::replace_one && plan.sampling.is_auto())
    plan.sampling = Sampling::fixed_size;
}

std::unique_ptr<FixedMethod> label_mean() {
  return std::make_unique<SingleRelease>(
      "the mean of the label",
      [](double noise, const ModelShape& model) { return make_label_mean(model.columns, noise); },
      std::vector<PlannedRelease>{{"mean of the label", 1, "rows are too few for a model at this budget"}});
}

Recipe::Open make_plan(const Plan& plan, const Budget&) {
  if (plan.center == Centering::yes) {
    throw InputError(
        "plan: center: method auto centres rows itself, and takes them to be within [0, 1]; leave it out, or "
        "name a method that takes it: --method dpsgd");
  }
  if (plan.model == GlmLoss::squared && !carries_a_model(plan)) return label_mean();
  return std::make_unique<AutoPlan>(plan.model.loss(), plan.huber_width);
}

}  // namespace

AutoPlan::AutoPlan(GlmLoss loss, double huber_width) {
  options_.loss = loss;
  options_.huber_width = huber_width;
}

std::vector<CountedEvent> AutoPlan::events(std::int64_t first_steps) const {
  const std::vector<AutoStage> first(options_.stages.begin(), options_.stages.begin() + first_steps);
  return auto_linear_events(first, options_.noise);
}

std::unique_ptr<Method> AutoPlan::make(const ModelShape& model, const StepsSoFar& so_far) const {
  AutoLinearOptions options = options_;
  options.columns = model.columns;
  options.outputs = model.outputs;
  options.groups = model.groups;
  options.stages.erase(options.stages.begin() + so_far.done, options.stages.begin() + so_far.charged);
  return make_auto_linear(options);
}

std::string AutoPlan::settings() const {
  return fmt::format("{} {} {}", to_string(options_.loss), options_.huber_width, options_.stages.size());
}

std::vector<PlannedRelease> AutoPlan::releases() const {
  const auto gradients = std::count(options_.stages.begin(), options_.stages.end(), AutoStage::gradient);
  return {{"mean of the rows", share_of(AutoStage::mean), "centres and scales the columns"},
          {"second moment", share_of(AutoStage::moment),
           "turns them, so that one step length suits all directions"},
          {fmt::format("{} gradients", gradients), share_of(AutoStage::gradient),
           "Newton-like steps; the last three quarters are averaged and shrunk by the known noise"}};
}

std::vector<Recipe> auto_recipes() {
  Recipe recipe{MethodKind::automatic,   [](const Plan&) { return Settings{"noise"}; },
                choose_rows_of_a_step,   make_plan,
                /*takes_networks=*/true,
                /*needs_bias=*/true};
  recipe.substitute = substitute;
  recipe.units = UnitForm::even;
  return {recipe};
}

}  // namespace ration
