#include "train/recipes/gradient_descent.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/check.h"
#include "ration/base/error.h"
#include "ration/objectives/network.h"
#include "schedules/scale.h"
#include "train/noise_plan.h"
#include "train/recipes/settings.h"
#include "train/signal.h"

namespace ration {
namespace {

constexpr double kMostSteps = 1e8;

std::optional<FollowQuantile> follow_of(const Plan& plan) {
  if (plan.clip.value() != ClipKind::adaptive) return std::nullopt;
  return FollowQuantile{.follower = {.target = plan.clip_quantile, .rate = plan.clip_follow_rate}};
}

StepOptions step_options(const Plan& plan) {
  StepOptions options = usual_step_options(plan.step.value());
  options.momentum = plan.momentum;
  options.second_momentum = plan.second_momentum.value_or(options.second_momentum);
  options.stability = plan.stability.value_or(options.stability);
  options.weight_decay = *plan.weight_decay;
  options.noise_correction = plan.noise_correction;
  options.in_floats = plan.model.is_network();  // as its gradients are
  return options;
}

GradientDescentOptions options_of(const Plan& plan) {
  return {.clip = clip_of(plan),
          .follow = follow_of(plan),
          .noise = {},
          .learning_rate = {.base = *plan.lr,
                            .shape = plan.lr_shape,
                            .warm_up = plan.warm_up,
                            .drop_every = plan.drop_every,
                            .drop_factor = plan.drop_factor},
          .step = step_options(plan),
          .average = {.kind = plan.average.value(),
                      .decay = plan.average_decay.value_or(AverageOptions{}.decay)}};
}

// Nothing said: as many as the schedule's file has, or the usual number.
std::optional<std::int64_t> steps_of(const Plan& plan) {
  if (!plan.epochs) return plan.steps;
  const double steps = std::ceil(*plan.epochs / *plan.rate * (1 - 1e-12));
  return static_cast<std::int64_t>(require("plan", "epochs / rate", steps, at_least(1).at_most(kMostSteps)));
}

// What the method itself refuses, before anything is spent.
void require_sound(GradientDescentOptions options) {
  options.noise = {1};
  make_gradient_descent(options, 1);
}

Recipe::Open make_plan(const Plan& plan, const Budget&) {
  GradientDescentOptions options = options_of(plan);
  require_sound(options);
  std::vector<double> shape = noise_shape_of(plan, steps_of(plan));
  if (!plan.average_decay)
    options.average.decay = usual_average_decay(static_cast<std::int64_t>(shape.size()));
  return std::make_unique<GradientDescentPlan>(std::move(options), std::move(shape));
}

// What the four differ in.
struct Defaults {
  double rate, clip_bound;
  StepKind step;
  double lr, weight_decay;
  Averaging average;
  std::optional<Accountant> accountant{};  // none: the tightest
  ClipKind clip = ClipKind::abadi;
  std::optional<double> epochs{};  // none: the usual number of steps
};

// Of a network its library knows what suits it; the method's own step rule stays if it is Adam.
Defaults for_network(const Defaults& usual, const NetworkDefaults& network) {
  const bool adam = usual.step == StepKind::adam;
  return {network.rate,
          network.clip_bound,
          adam ? StepKind::adam : named<StepKind>(network.step),
          adam ? network.adam_lr : network.lr,
          0,
          usual.average == Averaging::none ? Averaging::none : named<Averaging>(network.average),
          usual.accountant,
          named<ClipKind>(network.clip),
          network.epochs};
}

void fill_from(const Defaults& usual, Plan& plan) {
  const bool has_steps = plan.steps || plan.epochs || plan.schedule.is_file();
  if (!has_steps) plan.epochs = usual.epochs;
  if (!plan.rate && !plan.batch) plan.rate = usual.rate;
  set_if_open(plan.clip_bound, usual.clip_bound);
  set_if_open(plan.lr, usual.lr);
  set_if_open(plan.weight_decay, usual.weight_decay);
  plan.step.choose_if_auto(usual.step);
  plan.average.choose_if_auto(usual.average);
  if (usual.accountant) plan.accountant.choose_if_auto(*usual.accountant);
  plan.clip.choose_if_auto(usual.clip);
}

// The settings of dpsgd serve all our tables alike.
constexpr Defaults kForTables{1, 1, StepKind::momentum, 4, 0, Averaging::half};
// On the scattering transform of images nearly all gradients are longer than the bound, so that lr x bound is
// the length of a step: about the settings of [Tramer21]. Learning rate and average were compared on
// Fashion-MNIST at epsilon 3.
constexpr Defaults kForScattering{1.0 / 8,         0.1, StepKind::momentum, 160, 0,
                                  Averaging::none, {},  ClipKind::abadi,    40};
// Half of that where rows and budget leave more noise, or are not known. On a split of Fashion-MNIST's
// training images it was level at 36,000 rows times mu, and 1.2 points ahead at 13,400 (docs/results/e4.md).
constexpr double kSignalForLongSteps = 25'000;
constexpr double kShortRate = 80;

Defaults for_scattering(const Plan& plan) {
  Defaults usual = kForScattering;
  if (signal_of(plan).value_or(0) < kSignalForLongSteps) usual.lr = kShortRate;
  return usual;
}

// Bags of words have norm 1 and few ones each, so gradients are short and weights have far to go. Compared on
// the development sentences of SST-2 at epsilon 3 and 8 (docs/networks.md).
constexpr double kBoundForTexts = 0.5;
constexpr double kRateForTexts = 60;

Settings settings_of(const Plan&) {
  return joined({clip_settings(),
                 {"clip_quantile", "clip_follow_rate"},
                 average_settings(),
                 {"steps", "epochs", "noise"},
                 {"schedule", "gamma", "schedule_rate", "schedule_every", "schedule_factor", "schedule_end",
                  "schedule_power"},
                 {"step", "momentum", "second_momentum", "stability", "weight_decay", "noise_correction"},
                 {"lr", "lr_shape", "warm_up", "drop_every", "drop_factor"}});
}

Recipe recipe(MethodKind method, const Defaults& usual) {
  const auto fill = [usual, method](Plan& plan) {
    if (plan.model.is_network())
      return fill_from(for_network(usual, networks().usual(plan.model.name())), plan);
    fill_from(method == MethodKind::dpsgd && plan.model.sees_scattering() ? for_scattering(plan) : usual,
              plan);
  };
  return {method,
          settings_of,
          fill,
          make_plan,
          /*takes_networks=*/true,
          /*needs_bias=*/false,
          /*substitute=*/{},
          UnitForm::sums};
}

}  // namespace

GradientDescentPlan::GradientDescentPlan(GradientDescentOptions options, std::vector<double> shape)
    : options_(std::move(options)), shape_(std::move(shape)) {
  set_noise(1);
}

// Equal noise in a row is one repeated event.
std::vector<CountedEvent> GradientDescentPlan::events(std::int64_t first_steps) const {
  std::vector<CountedEvent> events;
  const auto end = options_.noise.begin() + first_steps;
  for (auto at = options_.noise.begin(); at != end;) {
    const auto next = std::find_if(at, end, [at](double noise) { return noise != *at; });
    events.push_back({gradient_descent_event(*at, options_.follow), next - at});
    at = next;
  }
  return events;
}

double GradientDescentPlan::usual_noise() const {
  return usual_size(shape_);
}

void GradientDescentPlan::set_noise(double size) {
  options_.noise = scaled_by(shape_, size);
}

std::unique_ptr<Method> GradientDescentPlan::make(const ModelShape& model, const StepsSoFar& so_far) const {
  GradientDescentOptions options = options_;
  options.noise.erase(options.noise.begin() + so_far.done, options.noise.begin() + so_far.charged);
  options.start = model.start;
  return make_gradient_descent(std::move(options), model.parameters());
}

std::string GradientDescentPlan::settings() const {
  const GradientDescentOptions& o = options_;
  const std::string follow =
      o.follow ? fmt::format("{} {}", o.follow->follower.target, o.follow->follower.rate) : "";
  return fmt::format("{}; follow {}; rate {} {} {} {} {}; step {} {} {} {} {} {}; {}; shape {}",
                     describe(o.clip), follow, o.learning_rate.base, to_string(o.learning_rate.shape),
                     o.learning_rate.warm_up, o.learning_rate.drop_every, o.learning_rate.drop_factor,
                     to_string(o.step.kind), o.step.momentum, o.step.second_momentum, o.step.stability,
                     o.step.weight_decay, o.step.noise_correction, describe(o.average),
                     fmt::join(shape_, " "));
}

void fill_for_texts(Plan& plan) {
  set_if_open(plan.clip_bound, kBoundForTexts);
  set_if_open(plan.lr, kRateForTexts);
}

std::vector<Recipe> gradient_descent_recipes() {
  // The others are their papers' kind: no momentum, no averaging.
  return {
      recipe(MethodKind::dpsgd, kForTables),
      recipe(MethodKind::sgd_adv, {0.1, 3, StepKind::sgd, 0.5, 0.001, Averaging::none, Accountant::advanced}),
      recipe(MethodKind::sgd_ma, {0.1, 3, StepKind::sgd, 0.5, 0.001, Averaging::none, Accountant::moments}),
      recipe(MethodKind::dpadam, {0.1, 3, StepKind::adam, 0.05, 0.001, Averaging::none})};
}

}  // namespace ration
