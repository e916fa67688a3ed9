#include "ration/train/resolve.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ration/base/check.h"
#include "ration/base/error.h"
#include "ration/sampling/fixed_size.h"
#include "ration/sampling/full.h"
#include "ration/sampling/poisson.h"
#include "ration/schedules/scale.h"
#include "ration/train/model.h"
#include "ration/train/noise_plan.h"

namespace ration {
namespace {

constexpr double kMostSteps = 1e8;
// A count of the rows takes about one part in a hundred of the budget.
constexpr double kCountNoiseRatio = 10;

[[noreturn]] void refuse(const std::string& message) {
  throw InputError("plan: " + message);
}

// A plan need not come from a file, so every value is held against its key's rule once more.
void require_sound_values(const Plan& plan) {
  for (const PlanKey& key : plan_keys()) {
    std::string text = key.get(plan).value_or("");
    if (text.empty()) continue;
    if (text.front() == '"') text = text.substr(1, text.size() - 2);
    Plan scratch;
    key.set(scratch, "plan: " + key.name, text);
  }
}

Budget budget_of(const Plan& plan) {
  if (!plan.epsilon) refuse("epsilon is needed: epsilon > 0");
  if (!plan.delta) refuse("delta is needed: 0 < delta < 1, well below 1 / rows");
  return {*plan.epsilon, *plan.delta};
}

// --- which rows a step sees

double rate_of(const Plan& plan) {
  if (plan.rate && plan.batch) refuse("rate and batch say the same; give one of them");
  if (plan.rate) return *plan.rate;
  if (!plan.batch) return 1;
  if (!plan.rows) refuse("batch needs rows, the public number of rows, to become a rate");
  const auto batch = static_cast<double>(*plan.batch);
  if (batch > *plan.rows) refuse(fmt::format("expected batch <= rows = {}, got {}", *plan.rows, *plan.batch));
  return batch / *plan.rows;
}

std::string sampling_of(const Plan& plan, double rate) {
  if (plan.sampling == "auto") return rate < 1 ? "poisson" : "full";
  if (plan.sampling == "full" && rate < 1) {
    refuse(fmt::format("sampling full sees every row, but rate is {}; use poisson or fixed", show(rate)));
  }
  return plan.sampling;
}

// A batch of all rows costs the same under either relation, so no accountant would object to a fixed size
// under add_remove; but the size would then be a private number.
Relation relation_of(const Plan& plan, const std::string& sampling) {
  const bool fixed = sampling == "fixed";
  if (plan.relation == "auto") return fixed ? Relation::replace_one : Relation::add_remove;
  const Relation relation = relation_from_string(plan.relation);
  if (fixed && relation == Relation::add_remove) {
    refuse("sampling fixed and relation add_remove do not go together; use replace_one, or poisson or full");
  }
  return relation;
}

std::uint64_t fixed_size_of(const Plan& plan, double rate) {
  if (!plan.rows || *plan.rows != std::floor(*plan.rows)) {
    refuse("sampling fixed needs rows: the number of rows, which relation replace_one makes public");
  }
  return static_cast<std::uint64_t>(std::clamp(std::round(rate * *plan.rows), 1.0, *plan.rows));
}

// --- how long, and with how much noise

// Nothing said: as many as the schedule's file has, or the usual number.
std::optional<std::int64_t> steps_of(const Plan& plan, double rate) {
  if (plan.steps && plan.epochs) refuse("steps and epochs say the same; give one of them");
  if (!plan.epochs) return plan.steps;
  const double steps = std::ceil(*plan.epochs / rate * (1 - 1e-12));
  return static_cast<std::int64_t>(require("plan", "epochs / rate", steps, at_least(1).at_most(kMostSteps)));
}

std::string accountant_of(const Plan& plan, const std::string& sampling) {
  if (plan.accountant != "auto") return plan.accountant;
  if (sampling == "full") return "gdp";
  return sampling == "poisson" ? "pld" : "rdp";
}

AnyClipRule clip_of(const Plan& plan) {
  const std::string& name = plan.clip == "adaptive" ? "abadi" : plan.clip;
  return AnyClipRule::named(name, plan.clip_bound, plan.clip_gamma);
}

std::optional<FollowQuantile> follow_of(const Plan& plan) {
  if (plan.clip != "adaptive") return std::nullopt;
  return FollowQuantile{.follower = {.target = plan.clip_quantile, .rate = plan.clip_follow_rate}};
}

StepOptions step_options(const Plan& plan) {
  StepOptions options = usual_step_options(step_kind_named(plan.step));
  options.momentum = plan.momentum;
  options.second_momentum = plan.second_momentum.value_or(options.second_momentum);
  options.stability = plan.stability.value_or(options.stability);
  options.weight_decay = plan.weight_decay;
  options.noise_correction = plan.noise_correction;
  return options;
}

GradientDescentOptions method_of(const Plan& plan) {
  return {.clip = clip_of(plan),
          .follow = follow_of(plan),
          .noise = {},
          .learning_rate = {.base = plan.lr,
                            .shape = rate_shape_named(plan.lr_shape),
                            .warm_up = plan.warm_up,
                            .drop_every = plan.drop_every,
                            .drop_factor = plan.drop_factor},
          .step = step_options(plan),
          .average = {.kind = averaging_named(plan.average), .decay = plan.average_decay}};
}

// All steps together are about as noisy as one query on all rows with this noise multiplier.
double noise_of_the_whole(std::span<const double> noise, double rate) {
  double precision = 0;
  for (const double s : noise) precision += 1 / (s * s);
  return 1 / (rate * std::sqrt(precision));
}

void set_noise(ResolvedPlan& resolved, std::span<const double> noise) {
  resolved.method.noise.assign(noise.begin(), noise.end());
  if (resolved.count_noise) {
    resolved.count_noise = kCountNoiseRatio * noise_of_the_whole(noise, resolved.rate);
  }
}

void choose_noise(ResolvedPlan& resolved) {
  const std::vector<double> shape = noise_shape_of(resolved.plan, steps_of(resolved.plan, resolved.rate));
  if (is_schedule_file(resolved.plan.schedule)) resolved.schedule = shape;
  resolved.noise_multiplier = resolved.plan.noise.value_or(1);
  set_noise(resolved, scaled_by(shape, resolved.noise_multiplier));
  if (const std::string reason = refusal(resolved.event(), resolved.relation, resolved.accountant);
      !reason.empty()) {
    refuse(reason);
  }
  if (resolved.plan.noise) return;
  const auto event_with = [&](std::span<const double> noise) {
    set_noise(resolved, noise);
    return resolved.event();
  };
  const ScaledNoise scaled =
      scale_onto_budget(shape, event_with, resolved.relation, resolved.accountant, resolved.budget);
  set_noise(resolved, scaled.noise);
  resolved.noise_multiplier = scaled.size;
}

void require_within_budget(const ResolvedPlan& resolved) {
  if (!resolved.cost.certified) {
    refuse(fmt::format("accountant {} only approximates this plan, which certifies nothing; use rdp or pld",
                       to_string(resolved.accountant)));
  }
  if (resolved.cost.epsilon <= resolved.budget.epsilon) return;
  throw BudgetRefused(fmt::format(
      "the plan would spend epsilon {} at delta {}, more than its budget of {}; take fewer steps, more "
      "noise, or "
      "leave noise out",
      show_rounded_up(resolved.cost.epsilon), resolved.budget.delta, show(resolved.budget.epsilon)));
}

// What the method itself refuses, before anything is spent.
void require_sound_method(const ResolvedPlan& resolved) {
  make_gradient_descent(resolved.method, 1);
}

void write_choices_into(Plan& plan, const ResolvedPlan& resolved, const std::string& sampling) {
  plan.sampling = sampling;
  plan.rate = resolved.rate;
  plan.batch.reset();
  plan.steps = resolved.steps();
  plan.epochs.reset();
  plan.relation = to_string(resolved.relation);
  plan.accountant = to_string(resolved.accountant);
  plan.noise = resolved.noise_multiplier;
}

}  // namespace

Event ResolvedPlan::event(std::int64_t first_steps) const {
  if (!count_noise) return steps_event(first_steps);
  return Event::composed({Event::gaussian(*count_noise), steps_event(first_steps)});
}

// Equal noise in a row is one repeated event.
Event ResolvedPlan::steps_event(std::int64_t first_steps) const {
  std::vector<Event> parts;
  const auto sampler = make_sampler({.rows = 1, .declared_rows = plan.rows.value_or(1)});
  for (std::int64_t t = 0; t < first_steps;) {
    const double noise = method.noise[static_cast<std::size_t>(t)];
    std::int64_t end = t + 1;
    while (end < first_steps && method.noise[static_cast<std::size_t>(end)] == noise) ++end;
    parts.push_back(Event::repeated(sampler->sampled(gradient_descent_event(noise, method.follow)), end - t));
    t = end;
  }
  return Event::composed(std::move(parts));
}

std::unique_ptr<Sampler> ResolvedPlan::make_sampler(const TableSize& table) const {
  if (fixed_size) {
    const auto rows = static_cast<std::uint64_t>(*plan.rows);
    return std::make_unique<FixedSizeSampler>(rows, *fixed_size);
  }
  if (rate < 1) return std::make_unique<PoissonSampler>(table, rate);
  if (relation == Relation::add_remove) return std::make_unique<FullSampler>(table, relation);
  return std::make_unique<FullSampler>(
      TableSize{.rows = table.rows, .declared_rows = std::max(1.0, static_cast<double>(table.rows))},
      relation);
}

ResolvedPlan resolve(const Plan& plan) {
  require_sound_values(plan);
  ResolvedPlan out;
  out.plan = plan;
  out.budget = budget_of(plan);
  out.rate = rate_of(plan);
  const std::string sampling = sampling_of(plan, out.rate);
  out.relation = relation_of(plan, sampling);
  out.accountant = accountant_from_string(accountant_of(plan, sampling));
  if (sampling == "fixed") {
    out.fixed_size = fixed_size_of(plan, out.rate);
    out.rate = static_cast<double>(*out.fixed_size) / *plan.rows;
  }
  out.method = method_of(plan);
  if (out.relation == Relation::add_remove && !plan.rows) out.count_noise = 1;
  choose_noise(out);
  require_sound_method(out);
  out.cost = account(out.event(), out.relation, out.accountant, out.budget.delta);
  require_within_budget(out);
  write_choices_into(out.plan, out, sampling);
  return out;
}

data::Schema read_schema_of(const Plan& plan) {
  if (plan.schema.empty()) {
    refuse(
        "schema is needed: the public description of the columns; 'ration schema' drafts one from public "
        "rows");
  }
  data::Schema schema = data::read_schema(plan.schema);
  if (!plan.target.empty()) schema.label = plan.target;
  data::require_sound(schema);
  require_sound(untrained_model(plan, schema));
  return schema;
}

Model untrained_model(const Plan& plan, const data::Schema& schema) {
  Model model{.loss = glm_loss_named(plan.model),
              .classes = schema.classes(),
              .huber_width = plan.huber_width,
              .schema = schema,
              .weights = {}};
  const std::size_t outputs = model.loss == GlmLoss::softmax ? model.classes : 1;
  model.weights.resize(data::encoded_column_names(schema).size() * outputs);
  return model;
}

}  // namespace ration
