#include "flags/schedule_flags.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>

#include "base/read_number.h"
#include "data/find_schema.h"
#include "flags/common_flags.h"
#include "flags/explain.h"
#include "flags/plan_flags.h"
#include "ration/base/error.h"
#include "schedules/noise_shape.h"
#include "text/answer.h"
#include "train/noise_plan.h"
#include "train/public_influence.h"

namespace ration::cli {
namespace {

// The keys of a plan that a shape has, and those that decide how a run is estimated.
constexpr std::array kShapeKeys = {"gamma",           "momentum",     "schedule_rate", "schedule_every",
                                   "schedule_factor", "schedule_end", "schedule_power"};
constexpr std::array kRunKeys = {"data",
                                 "schema",
                                 "target",
                                 "rows",
                                 "row_norm",
                                 "center",
                                 "model",
                                 "huber_width",
                                 "clip",
                                 "clip_bound",
                                 "clip_gamma",
                                 "per_layer",
                                 "step",
                                 "lr",
                                 "lr_shape",
                                 "warm_up",
                                 "drop_every",
                                 "drop_factor",
                                 "second_momentum",
                                 "stability",
                                 "weight_decay",
                                 "noise_correction",
                                 "average",
                                 "average_decay"};
constexpr std::string_view kEstimated = "influence:estimated";
constexpr const char* kRunGroup = "The run to estimate, on PUBLIC rows, for --shape influence:estimated";
constexpr const char* kBoundGroup = "The bound on the error";

// A key of a plan means the same here, but for the rows: those that are read are public.
std::string help_of(const PlanKey& key) {
  if (key.name == "data") return "PUBLIC rows to estimate on, read without privacy";
  if (key.name == "rows") {
    return "Number of PRIVATE rows that the schedule is for (default: as many as the public ones)";
  }
  return key.describe();
}

std::string names_of_shapes() {
  return fmt::format("{}, {}", fmt::join(names_of<ScheduleKind>(), ", "), kEstimated);
}

std::string read_shape(const std::optional<std::string>& text) {
  if (!text) throw InputError(fmt::format("--shape is needed: {}", names_of_shapes()));
  if (*text != kEstimated) named<ScheduleKind>("--shape", *text, {kEstimated});
  return *text;
}

enum class Estimate { retraining, hessian };
constexpr NamedValue<Estimate> kEstimates[] = {
    {Estimate::retraining, "retraining", "Train again and again with other noise."},
    {Estimate::hessian, "hessian", "By the Hessian: model squared, as if nothing were clipped."},
};
constexpr NameTable<Estimate> name_table(Estimate) {
  return {"--estimate", kEstimates};
}

enum class Fit { none, exponential };
constexpr NamedValue<Fit> kFits[] = {
    {Fit::none, "none", "The estimate as it is."},
    {Fit::exponential, "exponential", "The smooth curve through the estimate."},
};
constexpr NameTable<Fit> name_table(Fit) {
  return {"--fit", kFits};
}

StepPlan with_noise(StepPlan plan, std::span<const double> noise) {
  plan.noise.clear();
  for (const double s : noise) plan.noise.push_back({s, 1});
  return plan;
}

ScaledNoise scaled(const StepPlan& plan, std::span<const double> shape, Accountant accountant,
                   const Budget& budget) {
  return scale_onto_budget(
      shape, [&](std::span<const double> noise) { return with_noise(plan, noise).event(); }, plan.relation,
      accountant, budget);
}

// R = sum of 1 / s_t^2.
double total_precision(std::span<const double> noise) {
  double sum = 0;
  for (const double s : noise) sum += 1 / (s * s);
  return sum;
}

// An estimate is of the plan's own run, with uniform noise.
ResolvedPlan plan_to_estimate(Plan plan, const StepPlan& steps, const Budget& budget, Accountant accountant,
                              std::size_t public_rows) {
  plan.schedule = ScheduleKind::uniform;
  plan.sampling = steps.sampling;
  plan.rate = steps.rate;
  plan.relation = steps.relation;
  plan.accountant = accountant;
  plan.steps = steps.noise.front().steps;
  plan.epsilon = budget.epsilon;
  plan.delta = budget.delta;
  plan.batch.reset();
  plan.epochs.reset();
  plan.noise.reset();
  plan.ledger.clear();
  if (!plan.rows) plan.rows = static_cast<double>(public_rows);
  return resolve(plan);
}

// Of the exponential that fits best; nothing if that does not rise, and so has none.
std::optional<double> gamma_of(std::span<const double> influence) {
  const double gamma = fit_exponential(influence).gamma;
  return gamma > 0 && gamma < 1 ? std::optional(gamma) : std::nullopt;
}

}  // namespace

void ScheduleFlags::add_to(CLI::App& command) {
  offer_names<ScheduleKind>(
      command.add_option("--shape", shape_, fmt::format("How the noise changes: {}", names_of_shapes()))
          ->type_name("NAME"),
      {{std::string(kEstimated), "Measured on PUBLIC rows."}});
  command.add_option("--steps", steps_.steps, "Number of steps, a whole number >= 1")->type_name("T");
  command.add_option("--epsilon", epsilon_, "Target epsilon, > 0; the schedule never exceeds it")
      ->type_name("EPSILON");
  add_delta_flag(command, delta_);
  steps_.add_sampling_to(command);
  add_accountant_to(command, accountant_);
  keys_.reserve(kShapeKeys.size() + kRunKeys.size());
  for (const char* const name : kShapeKeys) keys_.push_back({&plan_key(name), {}});
  for (const char* const name : kRunKeys) keys_.push_back({&plan_key(name), {}});
  for (std::size_t i = 0; i < keys_.size(); ++i) {
    KeyFlag& flag = keys_[i];
    CLI::Option* const option =
        flag.key->value.empty() ? command.add_flag_callback(
                                      flag.key->flag(), [&flag] { flag.value = "true"; }, help_of(*flag.key))
                                : command.add_option(flag.key->flag(), flag.value, help_of(*flag.key))
                                      ->type_name(flag.key->value);
    option->group(i < kShapeKeys.size() ? "The shape" : kRunGroup);
    offer_choices(option, *flag.key);
  }
  const auto add = [&](const char* name, std::optional<std::string>& value, const char* help,
                       const char* type, const char* group) {
    return command.add_option(name, value, help)->type_name(type)->group(group);
  };
  add("--plan", plan_file_, "Plan file (TOML) for all of these; flags override it", "FILE", kRunGroup);
  offer_names<Estimate>(add("--estimate", estimate_,
                            "retraining (default), or hessian: for model squared, ignoring the clipping",
                            "HOW", kRunGroup));
  offer_names<Fit>(add("--fit", fit_, "none (default), or exponential: fit a smooth curve to the estimate",
                       "HOW", kRunGroup));
  add("--runs", runs_, "retraining: number of noise draws to average over (default: 8)", "N", kRunGroup);
  add("--alpha", alpha_,
      "Cost of the noise, D G^2 / (2 R M N^2 E), with R = sum of 1 / noise^2 (default: 0.001)", "X",
      kBoundGroup);
  add("--parameters", parameters_,
      "D: number of parameters; with the next three and --rows, replaces --alpha", "D", kBoundGroup);
  add("--gradient-bound", gradient_bound_, "G: the clip bound, or the largest norm of a gradient", "G",
      kBoundGroup);
  add("--smoothness", smoothness_, "M: the largest curvature; the step size is 1 / M", "M", kBoundGroup);
  add("--initial-error", initial_error_, "E: the initial loss minus the smallest", "E", kBoundGroup);
}

bool ScheduleFlags::is_given(const std::string& name) const {
  return std::any_of(keys_.begin(), keys_.end(),
                     [&](const KeyFlag& flag) { return flag.key->name == name && flag.value; });
}

Plan ScheduleFlags::read_plan_keys() const {
  Plan plan = plan_file_ ? read_plan(*plan_file_) : Plan{};
  plan.data.clear();  // a plan's rows are private; which ones are public has to be said
  for (const KeyFlag& flag : keys_) {
    if (flag.value) flag.key->set(plan, flag.key->flag(), *flag.value);
  }
  if (plan.method == MethodKind::automatic) plan.method = MethodKind::dpsgd;  // auto has no schedule
  return plan;
}

std::vector<double> ScheduleFlags::estimated_shape(Plan plan, const StepPlan& steps, const Budget& budget,
                                                   Accountant accountant, ScheduleAnswer& answer) const {
  if (plan.data.empty()) throw InputError("--data is needed: PUBLIC rows to estimate the influence on");
  const auto how = named<Estimate>(estimate_.value_or("retraining"));
  const auto fit = named<Fit>(fit_.value_or("none"));
  PublicEstimate options;
  if (runs_) options.runs = read_count("--runs", "runs", *runs_);
  if (plan.schema.empty()) plan.schema = data::find_schema(plan.data).value_or("");
  const data::Schema schema = read_schema_of(plan);
  data::Table table = data::read_table(plan.data, schema);
  const ResolvedPlan resolved = plan_to_estimate(plan, steps, budget, accountant, table.rows.count());
  answer.read_without_privacy = plan.data;
  RandomSource& random = SecureRandom::for_this_thread();
  answer.influence = how == Estimate::hessian
                         ? influence_by_hessian(resolved, schema, std::move(table), random)
                         : influence_on_public_rows(resolved, schema, std::move(table), random, options);
  if (fit == Fit::none) return noise_for_influence(answer.influence);
  const std::optional<double> gamma = gamma_of(answer.influence);
  if (!gamma) {
    throw InputError(
        "--fit exponential: the estimated influence does not rise from step to step; leave --fit out");
  }
  return relative_noise(InfluenceNoise{*gamma}, steps.noise.front().steps);
}

std::vector<double> ScheduleFlags::shape_of(const Plan& plan, const StepPlan& steps, const Budget& budget,
                                            Accountant accountant, ScheduleAnswer& answer) const {
  if (answer.shape == kEstimated) return estimated_shape(plan, steps, budget, accountant, answer);
  for (const auto* flag : {&estimate_, &fit_, &runs_}) {
    if (*flag) {
      throw InputError(fmt::format("--{} is only for --shape {}; leave it out",
                                   flag == &estimate_ ? "estimate"
                                   : flag == &fit_    ? "fit"
                                                      : "runs",
                                   kEstimated));
    }
  }
  Plan shape = plan;
  shape.schedule = answer.shape;
  return noise_shape_of(shape, steps.noise.front().steps);
}

RiskConstants ScheduleFlags::read_risk(const Plan& plan, const StepPlan& steps, double uniform_budget,
                                       ScheduleAnswer& answer) const {
  RiskConstants risk{.gamma = plan.gamma};
  answer.gamma_from = is_given("gamma") ? "given" : "the default";
  if (!answer.influence.empty() && !is_given("gamma")) {
    const std::optional<double> fitted = gamma_of(answer.influence);
    risk.gamma = fitted.value_or(risk.gamma);
    answer.gamma_from = fitted ? "fitted to the estimate" : "the default, as the estimate does not rise";
  }
  const bool by_parts = parameters_ || gradient_bound_ || smoothness_ || initial_error_;
  if (alpha_ && by_parts)
    throw InputError(
        "--alpha cannot be combined with --parameters, --gradient-bound, --smoothness or --initial-error");
  if (alpha_) risk.alpha = read_number("--alpha", "alpha", *alpha_, greater_than(0));
  answer.alpha_from = alpha_ ? "given" : "the default";
  if (!by_parts) return risk;
  const auto part = [](const char* flag, const char* name, const std::optional<std::string>& text) {
    if (!text) {
      throw InputError(fmt::format(
          "{} is needed: alpha is made of --parameters, --gradient-bound, --smoothness, --rows and "
          "--initial-error, all > 0",
          flag));
    }
    return read_number(flag, name, *text, greater_than(0));
  };
  const std::optional<std::string> rows = plan.rows ? std::optional(show(*plan.rows)) : std::nullopt;
  risk.alpha = risk_alpha({.parameters = part("--parameters", "parameters", parameters_),
                           .gradient_bound = part("--gradient-bound", "gradient_bound", gradient_bound_),
                           .budget = uniform_budget,
                           .smoothness = part("--smoothness", "smoothness", smoothness_),
                           .rows = steps.rate * part("--rows", "rows", rows),
                           .initial_error = part("--initial-error", "initial_error", initial_error_)});
  answer.alpha_from = "from its parts";
  return risk;
}

ScheduleAnswer ScheduleFlags::solve() const {
  const double start = now_in_seconds();
  ScheduleAnswer answer;
  answer.shape = read_shape(shape_);
  StepPlan steps = steps_.read_sampling();
  steps.noise = {{1, steps_.read_steps()}};
  answer.budget = {read_epsilon(epsilon_), read_delta(delta_)};
  const Accountant accountant = read_accountant(accountant_, steps.sampling);
  const Plan plan = read_plan_keys();
  // Both schedules first, so that what an accountant refuses is refused before rows are read.
  const std::vector<double> flat = relative_noise(UniformNoise{}, steps.noise.front().steps);
  const ScaledNoise uniform = scaled(steps, flat, accountant, answer.budget);
  const std::vector<double> shape = shape_of(plan, steps, answer.budget, accountant, answer);
  answer.scaled = scaled(steps, shape, accountant, answer.budget);
  answer.plan = with_noise(steps, answer.scaled.noise);
  answer.uniform_noise = uniform.size;
  answer.cost = account(answer.plan.event(), steps.relation, accountant, answer.budget.delta);
  const double uniform_precision = total_precision(uniform.noise);
  const double precision = total_precision(answer.scaled.noise);
  answer.cost_rho = precision / 2;
  answer.risk = read_risk(plan, steps, uniform_precision, answer);
  answer.uniform_bound = uniform_risk_bound(answer.risk, static_cast<double>(flat.size()));
  // The bound knows noise by its size over R; a sampled schedule may have another R at the same epsilon.
  RiskConstants own = answer.risk;
  own.alpha *= uniform_precision / precision;
  answer.bound = excess_risk_bound(own, answer.scaled.noise);
  answer.seconds = now_in_seconds() - start;
  return answer;
}

}  // namespace ration::cli
