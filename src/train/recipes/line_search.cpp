#include "train/recipes/line_search.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "methods/agd.h"
#include "methods/line_search.h"
#include "methods/search_noise.h"
#include "ration/base/error.h"
#include "ration/oracle/queries.h"
#include "ration/sampling/poisson.h"
#include "train/recipes/settings.h"

namespace ration {
namespace {

class LineSearchPlan final : public AdaptiveMethod {
 public:
  explicit LineSearchPlan(LineSearchOptions options) : options_(std::move(options)) {
    make_line_search_descent(options_, 1);  // what it refuses is refused before a row is read
  }
  Event typical(const Sampler& sampler) const override { return line_search_event(options_, sampler); }
  std::unique_ptr<Method> make(const ModelShape& model) const override {
    LineSearchOptions options = options_;
    options.start = model.start;
    return make_line_search_descent(options, model.parameters());
  }
  std::string settings() const override;

 private:
  LineSearchOptions options_;
};

class AgdPlan final : public AdaptiveMethod {
 public:
  explicit AgdPlan(AgdOptions options) : options_(std::move(options)) { make_agd(options_, 1); }
  Event typical(const Sampler& sampler) const override {
    return sampler.sampled(Event::gaussian(1 / std::sqrt(2 * options_.gradient_rho)));
  }
  std::unique_ptr<Method> make(const ModelShape& model) const override {
    AgdOptions options = options_;
    options.start = model.start;
    return make_agd(options, model.parameters());
  }
  std::string settings() const override {
    return fmt::format("{}; loss {} rho {} minimum {}; {} from {}; raise {} ridge {}; {}",
                       describe(options_.clip), options_.loss_bound, options_.gradient_rho,
                       options_.minimum_epsilon, options_.candidates, options_.first_step, options_.raise,
                       options_.ridge, describe(options_.average));
  }

 private:
  AgdOptions options_;
};

void refuse_following(const Plan& plan) {
  if (plan.clip.value() != ClipKind::adaptive) return;
  throw InputError(fmt::format("plan: method {} does not go with clip adaptive; use abadi, auto-v or auto-s",
                               plan.method.name()));
}

// A step's share of the budget, as the papers choose it.
double share_of_step(const Plan& plan, const Budget& budget) {
  return budget.epsilon / (2 * *plan.expected_steps);
}

AverageOptions average_of(const Plan& plan) {
  return {.kind = plan.average.value(), .decay = plan.average_decay.value_or(AverageOptions{}.decay)};
}

LineSearchOptions search_options(const Plan& plan, const Budget& budget) {
  refuse_following(plan);
  const double share = share_of_step(plan, budget);
  LineSearchOptions options;
  options.clip = clip_of(plan);
  options.loss_bound = *plan.loss_bound;
  options.gradient_rho = share * share / 2;
  switch (plan.search_noise) {
    case SearchNoise::laplace:
      options.search = LaplaceSearch::with_epsilon(share);
      break;
    case SearchNoise::gaussian:
      options.search = gaussian_search_of(share * share / 2, *plan.candidates);
      break;
  }
  options.first_step = *plan.first_step;
  options.candidates = *plan.candidates;
  options.shrink = plan.shrink;
  options.decrease = plan.decrease;
  options.ridge = *plan.weight_decay;
  options.average = average_of(plan);
  return options;
}

// The same rho in every step, such that the budget lasts for the steps that are expected. [Chen20, Sec. V-G]
LineSearchOptions network_search_options(const Plan& plan, const Budget& budget) {
  const auto with_noise = [&](double noise) {
    LineSearchOptions options = neural_line_search(1 / (2 * noise * noise), *plan.candidates);
    options.clip = clip_of(plan);
    options.loss_bound = *plan.loss_bound;
    options.first_step = *plan.first_step;
    options.shrink = plan.shrink;
    options.ridge = *plan.weight_decay;
    options.average = average_of(plan);
    return options;
  };
  const PoissonSampler sampler({.rows = 1, .declared_rows = 1}, *plan.rate);
  const auto steps = static_cast<std::int64_t>(std::ceil(*plan.expected_steps));
  return with_noise(calibrate_noise(
      [&](double noise) { return Event::repeated(line_search_event(with_noise(noise), sampler), steps); },
      Relation::add_remove, Accountant::rdp, budget));
}

Recipe::Open make_blsgd(const Plan& plan, const Budget& budget) {
  if (plan.model.is_network()) {
    refuse_following(plan);
    return std::make_unique<const LineSearchPlan>(network_search_options(plan, budget));
  }
  LineSearchOptions options = search_options(plan, budget);
  options.growth = CheckAngles{.raise = *plan.raise};
  if (plan.method == MethodKind::blsgd_ac) options.decay = BoundDecay{.zeta = plan.clip_decay};
  return std::make_unique<const LineSearchPlan>(std::move(options));
}

Recipe::Open make_blgd(const Plan& plan, const Budget& budget) {
  LineSearchOptions options = search_options(plan, budget);
  options.growth = RaiseGradient{.raise = *plan.raise};
  return std::make_unique<const LineSearchPlan>(std::move(options));
}

Recipe::Open make_agd_plan(const Plan& plan, const Budget& budget) {
  refuse_following(plan);
  const double share = share_of_step(plan, budget);
  return std::make_unique<const AgdPlan>(AgdOptions{.clip = clip_of(plan),
                                                    .loss_bound = *plan.loss_bound,
                                                    .gradient_rho = share * share / 2,
                                                    .minimum_epsilon = share,
                                                    .candidates = *plan.candidates,
                                                    .first_step = *plan.first_step,
                                                    .raise = *plan.raise,
                                                    .ridge = *plan.weight_decay,
                                                    .average = average_of(plan)});
}

struct Defaults {
  double rate, loss_bound, first_step;
  std::int64_t candidates;
  double raise, expected_steps;
  std::optional<Accountant> accountant{};
};

// [Chen20, Sec. V-G]; the steps last for some twenty passes over the rows.
constexpr Defaults kForNetworks{1.0 / 200, 3, 1, 10, 0.3, 4000};

void fill_from(const Defaults& usual, Plan& plan) {
  if (!plan.rate && !plan.batch) plan.rate = usual.rate;
  set_if_open(plan.clip_bound, 3.0);
  set_if_open(plan.loss_bound, usual.loss_bound);
  set_if_open(plan.first_step, usual.first_step);
  set_if_open(plan.candidates, usual.candidates);
  if (!plan.model.is_network()) set_if_open(plan.raise, usual.raise);
  set_if_open(plan.expected_steps, usual.expected_steps);
  set_if_open(plan.weight_decay, 0.001);
  plan.average.choose_if_auto(Averaging::none);
  plan.clip.choose_if_auto(plan.model.is_network() ? ClipKind::auto_s : ClipKind::abadi);
  if (usual.accountant) plan.accountant.choose_if_auto(*usual.accountant);
}

// A network's search is of its own kind (neural_line_search), and agd has none.
Settings settings_of(const Plan& plan) {
  Settings all = joined({clip_settings(),
                         average_settings(),
                         {"expected_steps", "loss_bound", "first_step", "candidates", "weight_decay"}});
  if (!plan.model.is_network()) all.push_back("raise");
  if (plan.method == MethodKind::agd) return all;
  all.push_back("shrink");
  if (plan.model.is_network()) return all;
  if (plan.method == MethodKind::blsgd_ac) all.push_back("clip_decay");
  return joined({all, {"search_noise", "decrease"}});
}

Recipe recipe(MethodKind method, const Defaults& usual, decltype(Recipe::make) make) {
  const bool takes_networks = method == MethodKind::blsgd || method == MethodKind::blsgd_ac;
  return {method,
          settings_of,
          [usual](Plan& plan) { fill_from(plan.model.is_network() ? kForNetworks : usual, plan); },
          std::move(make),
          takes_networks,
          /*needs_bias=*/false,
          /*substitute=*/{},
          UnitForm::even};
}

double raise_of(const BudgetGrowth& growth) {
  return std::visit(
      [](const auto& one) {
        if constexpr (requires { one.raise; }) return one.raise;
        return 0.0;
      },
      growth);
}

std::string LineSearchPlan::settings() const {
  const LineSearchOptions& o = options_;
  return fmt::format(
      "{}; loss {} rho {} search {}; {} from {} shrink {} decrease {}; raise {} decay {} ridge {}; {}",
      describe(o.clip), o.loss_bound, o.gradient_rho,
      DecreaseQuery{.noise = o.search}.event(static_cast<std::size_t>(o.candidates)).describe(), o.candidates,
      o.first_step, o.shrink, o.decrease, raise_of(o.growth), o.decay ? o.decay->zeta : 0, o.ridge,
      describe(o.average));
}

}  // namespace

std::vector<Recipe> line_search_recipes() {
  const LineSearchOptions search;
  const AgdOptions agd;
  // The paper begins with budgets for 50 steps, as if each used all rows. A tenth of them costs so much less
  // that the first few hundred gradients are then all noise; of 50, 25, 12, 6 and 3, a dozen was best on two
  // made-up tables (docs/results/e1.md).
  const Defaults sampled{0.1, 1, search.first_step, search.candidates, 0.3, 12};
  // Gradients of all rows are less noisy, so that short steps are worth looking for: with six candidates a
  // hinge loss found none. Longer first steps were as accurate on a logistic loss in half of the time, but
  // with a hinge loss and epsilon above 1 they drove rows beyond the loss bound, where the search no longer
  // sees them, and ended at the majority class.
  const Defaults whole{1, 1, search.first_step, 20, 0.1, 40, Accountant::rdp};
  const Defaults minimum{1, 3, agd.first_step, agd.candidates, 0.1, 25};  // chosen alike; the paper has 60
  return {recipe(MethodKind::blsgd, sampled, make_blsgd), recipe(MethodKind::blsgd_ac, sampled, make_blsgd),
          recipe(MethodKind::blgd, whole, make_blgd), recipe(MethodKind::agd, minimum, make_agd_plan)};
}

}  // namespace ration
