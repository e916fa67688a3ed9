#include "train/recipes/line_search.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "methods/agd.h"
#include "methods/line_search.h"
#include "ration/base/error.h"
#include "ration/objectives/network.h"
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

 private:
  AgdOptions options_;
};

void refuse_following(const Plan& plan) {
  if (plan.clip != "adaptive") return;
  throw InputError(
      fmt::format("plan: {} does not go with clip adaptive; use abadi, auto-v or auto-s", plan.method));
}

// A step's share of the budget, as the papers choose it.
double share_of_step(const Plan& plan, const Budget& budget) {
  return budget.epsilon / (2 * *plan.expected_steps);
}

AverageOptions average_of(const Plan& plan) {
  return {.kind = averaging_named(plan.average),
          .decay = plan.average_decay.value_or(AverageOptions{}.decay)};
}

LineSearchOptions search_options(const Plan& plan, const Budget& budget) {
  refuse_following(plan);
  const double share = share_of_step(plan, budget);
  LineSearchOptions options;
  options.clip = clip_of(plan);
  options.loss_bound = *plan.loss_bound;
  options.gradient_rho = share * share / 2;
  if (plan.search_noise == "laplace") {
    options.search = LaplaceSearch::with_epsilon(share);
  } else {
    options.search = GaussianSearch::with_rho(share * share / 2);
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
    LineSearchOptions options = neural_line_search(1 / (2 * noise * noise));
    options.clip = clip_of(plan);
    options.loss_bound = *plan.loss_bound;
    options.first_step = *plan.first_step;
    options.candidates = *plan.candidates;
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
  if (is_network(plan.model)) {
    refuse_following(plan);
    return std::make_unique<const LineSearchPlan>(network_search_options(plan, budget));
  }
  LineSearchOptions options = search_options(plan, budget);
  options.growth = CheckAngles{.raise = *plan.raise};
  if (plan.method == "blsgd-ac") options.decay = BoundDecay{.zeta = plan.clip_decay};
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
  const char* accountant = "auto";
};

// [Chen20, Sec. V-G]; the steps last for some twenty passes over the rows.
constexpr Defaults kForNetworks{1.0 / 200, 3, 1, 10, 0.3, 4000};

void fill_from(const Defaults& usual, Plan& plan) {
  if (!plan.rate && !plan.batch) plan.rate = usual.rate;
  set_if_open(plan.clip_bound, 3.0);
  set_if_open(plan.loss_bound, usual.loss_bound);
  set_if_open(plan.first_step, usual.first_step);
  set_if_open(plan.candidates, usual.candidates);
  set_if_open(plan.raise, usual.raise);
  set_if_open(plan.expected_steps, usual.expected_steps);
  set_if_open(plan.weight_decay, 0.001);
  choose_if_auto(plan.average, "none");
  choose_if_auto(plan.clip, is_network(plan.model) ? "auto-s" : "abadi");
  choose_if_auto(plan.accountant, usual.accountant);
}

Recipe recipe(std::string name, std::string what, const Defaults& usual, decltype(Recipe::make) make) {
  const bool takes_networks = name == "blsgd" || name == "blsgd-ac";
  return {std::move(name), std::move(what),
          [usual](Plan& plan) { fill_from(is_network(plan.model) ? kForNetworks : usual, plan); },
          std::move(make), takes_networks};
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
  const Defaults whole{1, 1, search.first_step, 20, 0.1, 40, "rdp"};
  const Defaults minimum{1, 3, agd.first_step, agd.candidates, 0.1, 25};  // chosen alike; the paper has 60
  return {recipe("blsgd", "a private line search picks each step [Chen20]", sampled, make_blsgd),
          recipe("blsgd-ac", "the same, with clip bounds that fall [Chen20]", sampled, make_blsgd),
          recipe("blgd", "the same on all rows [Chen20]", whole, make_blgd),
          recipe("agd", "a noisy minimum picks each step [Lee18]", minimum, make_agd_plan)};
}

}  // namespace ration
