#include "train/recipes/baselines.h"

#include <fmt/format.h>

#include <utility>

#include "base/check.h"
#include "baselines/majority.h"
#include "baselines/objective_perturbation.h"
#include "baselines/output_perturbation.h"
#include "baselines/privgene.h"
#include "ration/base/error.h"
#include "ration/base/random.h"
#include "train/recipes/settings.h"
#include "train/recipes/single_release.h"

namespace ration {
namespace {

// --- all rows at once

void use_all_rows(Plan& plan) {
  if (!plan.rate && !plan.batch) plan.rate = 1;
}

void bound_rows(Plan& plan) {
  use_all_rows(plan);
  set_if_open(plan.row_norm, 1.0);
  set_if_open(plan.weight_decay, 0.001);
}

// Passes over permuted rows have a proof for replace_one only.
void bound_rows_and_replace_one(Plan& plan) {
  bound_rows(plan);
  plan.relation.choose_if_auto(Relation::replace_one);
}

[[noreturn]] void refuse(const Plan& plan, const std::string& why) {
  throw InputError(fmt::format("plan: method {} {}", plan.method.name(), why));
}

void require_all_rows(const Plan& plan) {
  if (*plan.rate < 1)
    refuse(plan, fmt::format("sees all rows at once, but rate is {}; leave it out", show(*plan.rate)));
}

std::string ridge_settings(const Plan& plan) {
  return fmt::format("ridge {} row norm {}", *plan.weight_decay, *plan.row_norm);
}

// The oracle refuses these too, but only once the run is paid for.
void require_proof(const Plan& plan, bool several_outputs) {
  require_all_rows(plan);
  switch (plan.model.loss()) {
    case GlmLoss::logistic:
    case GlmLoss::huber:
      return;
    case GlmLoss::softmax:
      if (!several_outputs) refuse(plan, "needs a loss of one output; use model logistic or huber");
      return;
    case GlmLoss::hinge:
      refuse(plan, "needs a smooth loss, and hinge has a kink; use model huber");
    case GlmLoss::squared:
      refuse(plan, "needs a loss with bounded slopes, which squared has not");
  }
}

Recipe::Open output_perturbation(const Plan& plan, OutputFit fit) {
  require_proof(plan, true);
  if (fit != OutputFit::gradient_descent && plan.relation.value() != Relation::replace_one) {
    refuse(plan, fmt::format("is proven for relation replace_one only, got {}", plan.relation.name()));
  }
  OutputPerturbationOptions options{.fit = fit, .ridge = *plan.weight_decay, .row_norm = *plan.row_norm};
  return std::make_unique<SingleRelease>(ridge_settings(plan),
                                         [options](double noise, const ModelShape& model) mutable {
                                           options.noise_multiplier = noise;
                                           return make_output_perturbation(options, model.parameters());
                                         });
}

Recipe::Open objective_perturbation(const Plan& plan, const Budget&) {
  require_proof(plan, false);
  ObjectivePerturbationOptions options{.ridge = *plan.weight_decay, .row_norm = *plan.row_norm};
  return std::make_unique<SingleRelease>(ridge_settings(plan),
                                         [options](double noise, const ModelShape& model) mutable {
                                           options.noise_multiplier = noise;
                                           return make_objective_perturbation(options, model.parameters());
                                         });
}

Recipe::Open majority(const Plan& plan, const Budget&) {
  require_all_rows(plan);
  if (plan.model == GlmLoss::squared) refuse(plan, "is for classes, and squared fits numbers");
  return std::make_unique<SingleRelease>("majority", [](double noise, const ModelShape& model) {
    return make_majority({.noise_multiplier = noise,
                          .bias_column = model.columns - 1,
                          .classes = model.outputs == 1 ? 2 : model.outputs,
                          .outputs = model.outputs},
                         model.parameters());
  });
}

// --- a selection per round

class PrivGenePlan final : public FixedMethod {
 public:
  explicit PrivGenePlan(const PrivGeneOptions& options) : options_(options) {}

  std::int64_t steps() const override { return static_cast<std::int64_t>(options_.rounds); }
  std::vector<CountedEvent> events(std::int64_t first_steps) const override {
    return {{Event::bounded_range(options_.selection_epsilon), first_steps}};
  }
  void set_noise(double size) override { options_.selection_epsilon = 1 / size; }
  std::unique_ptr<Method> make(const ModelShape& model, const StepsSoFar& so_far) const override {
    PrivGeneOptions options = options_;
    options.rounds -= static_cast<std::uint64_t>(so_far.charged - so_far.done);
    return make_privgene(options, model.parameters(), SecureRandom::for_this_thread());
  }
  std::string settings() const override {
    return fmt::format("{} rounds, population {}, loss bound {}", options_.rounds, options_.population,
                       options_.loss_bound);
  }

 private:
  PrivGeneOptions options_;
};

void fill_privgene(Plan& plan) {
  use_all_rows(plan);
  const PrivGeneOptions usual;
  set_if_open(plan.steps, static_cast<std::int64_t>(usual.rounds));
  set_if_open(plan.candidates, static_cast<std::int64_t>(usual.population));
  set_if_open(plan.loss_bound, usual.loss_bound);
  plan.accountant.choose_if_auto(Accountant::zcdp);
}

Recipe::Open make_privgene_plan(const Plan& plan, const Budget&) {
  return std::make_unique<PrivGenePlan>(
      PrivGeneOptions{.rounds = static_cast<std::uint64_t>(*plan.steps),
                      .population = static_cast<std::uint64_t>(*plan.candidates),
                      .loss_bound = *plan.loss_bound});
}

void fill_nonprivate(Plan& plan) {
  use_all_rows(plan);
  set_if_open(plan.weight_decay, 0.0);
}

Recipe::Open nonprivate(const Plan& plan, const Budget&) {
  return WithoutPrivacy{*plan.weight_decay};
}

// Reads these keys, whatever the rest of the plan says.
std::function<Settings(const Plan&)> always(Settings keys) {
  return [keys = std::move(keys)](const Plan&) { return keys; };
}

Recipe outpert(MethodKind method, OutputFit fit) {
  const bool passes = fit != OutputFit::gradient_descent;
  return {method, always({"weight_decay", "noise"}), passes ? bound_rows_and_replace_one : bound_rows,
          [fit](const Plan& plan, const Budget&) { return output_perturbation(plan, fit); }};
}

}  // namespace

std::vector<Recipe> baseline_recipes() {
  return {
      {MethodKind::objpert, always({"weight_decay", "noise"}), bound_rows, objective_perturbation},
      outpert(MethodKind::outpert_gd, OutputFit::gradient_descent),
      outpert(MethodKind::outpert_rsgd, OutputFit::pass_averages),
      outpert(MethodKind::bolton, OutputFit::bolt_on),
      {MethodKind::privgene, always({"steps", "candidates", "loss_bound", "noise"}), fill_privgene,
       make_privgene_plan, /*takes_networks=*/false, /*needs_bias=*/false, /*substitute=*/{}, UnitForm::even},
      {MethodKind::majority, always({"noise"}), use_all_rows, majority, /*takes_networks=*/false,
       /*needs_bias=*/true, /*substitute=*/{}, UnitForm::even},
      {MethodKind::nonprivate, always({"weight_decay"}), fill_nonprivate, nonprivate,
       /*takes_networks=*/true}};
}

}  // namespace ration
