#include "ration/train/resolve.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/check.h"
#include "data/find_schema.h"
#include "data/named_data.h"
#include "privacy/sampler_delta.h"
#include "ration/base/error.h"
#include "ration/sampling/fixed_size.h"
#include "ration/sampling/full.h"
#include "ration/sampling/poisson.h"
#include "ration/train/model.h"
#include "schedules/noise_file.h"
#include "steps/averaging.h"
#include "train/choose_model.h"
#include "train/hats.h"
#include "train/method_plan.h"
#include "train/model_objective.h"
#include "train/model_shape.h"
#include "train/noise_plan.h"
#include "train/parts_of_choices.h"
#include "train/recipes/gradient_descent.h"
#include "train/recipes/settings.h"
#include "train/unit_of_plan.h"

namespace ration {
namespace {

// What is asked first, the number or the mean of the rows, takes about one part in a hundred of the budget
// each.
constexpr double kFirstNoiseRatio = 10;
constexpr double kMostQueriesExpected = 1 << 20;

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

// Why a method does not read a key, in a few words.
std::string_view why_unused(const Plan& plan, std::string_view key) {
  const bool counts_steps = is_used(plan, "steps");
  if (key == "steps") return "chooses its own number of steps";
  if (key == "epochs") return counts_steps ? "counts steps, not epochs" : "chooses its own number of steps";
  if (key == "noise" || key == "schedule") return "chooses its own noise";
  return "does not use it";
}

// Who leaves the choice of the method to the program may not know another: the first that takes the setting.
std::string who_takes(const Plan& plan, std::string_view key) {
  Plan other = plan;
  for (const Recipe& recipe : recipes()) {
    other.method = recipe.method;
    if (is_used(other, key))
      return fmt::format(", or name a method that takes it: --method {}", other.method.name());
  }
  return "";
}

// A setting that would be written into plan.toml and change nothing is a mistake of whoever gave it. `asked`
// is the method they know of; the plan's own may have taken its place, and its settings are accepted.
void refuse_unused(const Plan& plan, const Named<MethodKind>& asked) {
  const Plan usual;
  for (const PlanKey& key : plan_keys()) {
    if (is_used(plan, key.name) || key.get(plan) == key.get(usual)) continue;
    refuse(fmt::format("{}: method {} {}; leave it out{}", key.name, asked.name(), why_unused(plan, key.name),
                       asked == MethodKind::automatic ? who_takes(plan, key.name) : ""));
  }
}

void require_no_repetition(const Plan& plan) {
  if (plan.rate && plan.batch) refuse("rate and batch say the same; give one of them");
  if (plan.steps && plan.epochs) refuse("steps and epochs say the same; give one of them");
}

Budget budget_of(const Plan& plan) {
  if (!plan.epsilon) refuse("epsilon is needed: epsilon > 0, such as --epsilon 1");
  if (!plan.delta)
    refuse("delta is needed: 0 < delta < 1, well below 1 / rows, such as --delta 1e-6 for 100,000 rows");
  return {*plan.epsilon, *plan.delta};
}

// Why, if there was a reason.
std::string settle_model(Plan& plan, const std::optional<data::Schema>& schema) {
  if (!plan.model.is_auto()) return "";
  if (!schema) {
    plan.model = GlmLoss::logistic;
    return "no schema is named";
  }
  data::require_sound(*schema);
  const ChosenModel chosen = choose_model(*schema);
  plan.model = chosen.model;
  return chosen.why;
}

// A word is in few of the rows, so that a second moment of thousands of them is noise.
std::optional<Substitute> substitute_for(const Plan& plan, const RowFacts& rows) {
  const Recipe& recipe = recipe_of(plan.method);
  const auto other = recipe.substitute ? recipe.substitute(plan) : std::nullopt;
  if (other || plan.method != MethodKind::automatic) return other;
  if (rows.bags) return Substitute{MethodKind::dpsgd, "rows are texts"};
  if (!rows.bias) return Substitute{MethodKind::dpsgd, "the schema says bias = false"};
  return std::nullopt;
}

// Why, if there was a reason.
std::string substitute_method(Plan& plan, const RowFacts& rows) {
  const auto other = substitute_for(plan, rows);
  if (!other) return "";
  plan.method = other->method;
  return other->why;
}

// --- which rows a step sees

double rate_of(const Plan& plan) {
  if (plan.rate) return *plan.rate;
  if (!plan.batch) return 1;
  if (!plan.rows) refuse("batch needs rows, the public number of rows, to become a rate");
  const auto batch = static_cast<double>(*plan.batch);
  if (batch > *plan.rows) refuse(fmt::format("expected batch <= rows = {}, got {}", *plan.rows, *plan.batch));
  return batch / *plan.rows;
}

Sampling sampling_of(const Plan& plan, double rate) {
  if (plan.sampling.is_auto()) return usual_sampling(rate);
  if (plan.sampling == Sampling::full && rate < 1) {
    refuse(fmt::format("sampling full sees every row, but rate is {}; use poisson or fixed", show(rate)));
  }
  return plan.sampling.value();
}

// A batch of all rows costs the same under either relation, so no accountant would object to a fixed size
// under add_remove; but the size would then be a private number.
Relation relation_of(const Plan& plan, Sampling sampling) {
  if (plan.relation.is_auto()) return usual_relation(sampling);
  const Relation relation = plan.relation.value();
  if (sampling == Sampling::fixed_size && relation == Relation::add_remove) {
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

// --- who adds up, and how much noise that asks for

Accountant tightest_accountant(Sampling sampling, const Recipe::Open& method) {
  return usual_accountant(sampling, std::holds_alternative<std::unique_ptr<const AdaptiveMethod>>(method));
}

// Ten times the noise of a query that takes the whole budget.
double first_noise_for(const Budget& budget) {
  return kFirstNoiseRatio * calibrate_noise([](double noise) { return Event::gaussian(noise); },
                                            Relation::add_remove, Accountant::gdp, budget);
}

// What a model says of centred rows it can say of the rows themselves only if it has a bias, and no bound on
// the rows that centring would break.
bool is_centered(Plan& plan) {
  plan.center.choose_if_auto(plan.model.sees_scattering() && !plan.row_norm ? Centering::yes : Centering::no);
  if (plan.center == Centering::no) return false;
  if (plan.model.is_network())
    refuse(fmt::format("center is for linear models, and {} is a network; leave it out", plan.model.name()));
  if (plan.row_norm)
    refuse(fmt::format(
        "center = \"yes\" and row_norm = {} do not go together: rows less their mean may be longer; "
        "leave one of them out",
        show(*plan.row_norm)));
  return true;
}

void require_theorem(const Event& event, const ResolvedPlan& resolved) {
  const std::string reason = refusal(event, resolved.relation, resolved.accountant);
  if (!reason.empty()) refuse(reason);
}

void settle_method(ResolvedPlan& resolved, std::unique_ptr<FixedMethod> method) {
  FixedMethod& open = *method;
  resolved.method = std::shared_ptr<const FixedMethod>(std::move(method));
  const auto event_with = [&](double size) {
    open.set_noise(size);
    return resolved.event();
  };
  const double usual = open.usual_noise();
  require_theorem(event_with(resolved.plan.noise.value_or(usual)), resolved);
  resolved.noise_multiplier =
      resolved.plan.noise
          ? *resolved.plan.noise
          : usual * calibrate_noise([&](double part) { return event_with(usual * part); }, resolved.relation,
                                    resolved.accountant, resolved.budget_of_events());
  resolved.cost = account(event_with(resolved.noise_multiplier), resolved.relation, resolved.accountant,
                          resolved.budget_of_events().delta);
  resolved.cost.delta = resolved.budget.delta;
}

void settle_method(ResolvedPlan& resolved, std::unique_ptr<const AdaptiveMethod> method) {
  resolved.method = std::shared_ptr<const AdaptiveMethod>(std::move(method));
  resolved.make_budget_filter();  // refuses an accountant that has no filter
  resolved.cost = {.accountant = resolved.accountant,
                   .relation = resolved.relation,
                   .epsilon = resolved.budget.epsilon,
                   .delta = resolved.budget.delta,
                   .detail = "the whole budget, since the method chooses as it goes"};
}

void settle_method(ResolvedPlan& resolved, WithoutPrivacy method) {
  resolved.method = method;
  resolved.count_noise.reset();
  resolved.mean_noise.reset();
  resolved.cost = {.accountant = resolved.accountant,
                   .relation = resolved.relation,
                   .epsilon = std::numeric_limits<double>::infinity(),
                   .delta = resolved.budget.delta,
                   .certified = false,
                   .detail = "nothing protects the rows"};
}

void require_within_budget(const ResolvedPlan& resolved) {
  if (!resolved.is_private()) return;
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

// For one parameter and as few rows as there may be: Training asks again when it knows them, before a row is
// read.
void require_deliverable(const ResolvedPlan& resolved) {
  if (!resolved.is_private()) return;
  try {
    ration::require_deliverable(resolved.budget, resolved.random_words(1, 1));
  } catch (const InputError& error) {
    refuse(error.what());
  }
}

void write_choices_into(Plan& plan, const ResolvedPlan& resolved) {
  plan.rate = resolved.rate;
  plan.batch.reset();
  plan.relation = resolved.relation;
  plan.accountant = resolved.accountant;
  if (resolved.fixed() == nullptr) return;
  if (plan.average == Averaging::exponential && !plan.average_decay)
    plan.average_decay = usual_average_decay(resolved.steps());
  if (is_used(plan, "steps")) plan.steps = resolved.steps();
  plan.epochs.reset();
  plan.noise = resolved.noise_multiplier;
}

}  // namespace

const FixedMethod* ResolvedPlan::fixed() const {
  const auto* const planned = std::get_if<std::shared_ptr<const FixedMethod>>(&method);
  return planned == nullptr ? nullptr : planned->get();
}

std::int64_t ResolvedPlan::steps() const {
  return fixed() != nullptr ? fixed()->steps() : 0;
}

const Protector* ResolvedPlan::protector() const {
  const auto* const adaptive = std::get_if<std::shared_ptr<const AdaptiveMethod>>(&method);
  return adaptive == nullptr ? nullptr : (*adaptive)->protector();
}

Event ResolvedPlan::event(std::int64_t first_steps) const {
  if (!count_noise && !mean_noise) return steps_event(first_steps);
  return Event::composed({count_event(), mean_event(), steps_event(first_steps)});
}

Event ResolvedPlan::steps_event(std::int64_t first_steps) const {
  if (fixed() == nullptr) return Event::nothing();
  const auto sampler = make_sampler({.rows = 1, .declared_rows = plan.rows.value_or(1)});
  std::vector<Event> parts;
  for (const CountedEvent& one : fixed()->events(first_steps)) {
    parts.push_back(Event::repeated(sampler->sampled(one.event), one.count));
  }
  return Event::composed(std::move(parts));
}

std::unique_ptr<BudgetFilter> ResolvedPlan::make_budget_filter() const {
  if (const auto* const adaptive = std::get_if<std::shared_ptr<const AdaptiveMethod>>(&method)) {
    const auto sampler = make_sampler({.rows = 1, .declared_rows = plan.rows.value_or(1)});
    return make_filter(accountant, budget_of_events(), relation, (*adaptive)->typical(*sampler));
  }
  return make_plan_filter(event(), accountant, budget_of_events(), relation);
}

Budget ResolvedPlan::budget_of_events() const {
  return ration::budget_of_events(budget);
}

// A method that chooses as it goes is not known to ask more than is expected here; if it does, it is counted.
double ResolvedPlan::random_words(double parameters, double most_rows, double asked) const {
  double queries = fixed() == nullptr ? std::max(kMostQueriesExpected, asked) : 0;
  for (const CountedEvent& one : flatten(event())) queries += static_cast<double>(one.count);
  const double drawn = rate < 1 ? rate * most_rows : 0;
  // Which of a unit's rows stay is drawn once, of each less than two words on average.
  const double rows_kept = 2 * most_rows * static_cast<double>(plan.rows_per_unit.value_or(0));
  return rows_kept +
         ration::random_words({.queries = queries, .parameters = parameters, .rows_per_batch = drawn});
}

std::unique_ptr<Sampler> ResolvedPlan::make_sampler(const TableSize& table) const {
  switch (plan.sampling.value()) {
    case Sampling::fixed_size:
      return std::make_unique<FixedSizeSampler>(static_cast<std::uint64_t>(*plan.rows), fixed_size.value());
    case Sampling::poisson:
      if (rate < 1) return std::make_unique<PoissonSampler>(table, rate);
      break;
    case Sampling::full:
      break;
  }
  if (relation == Relation::add_remove) return std::make_unique<FullSampler>(table, relation);
  return std::make_unique<FullSampler>(
      TableSize{.rows = table.rows, .declared_rows = std::max(1.0, static_cast<double>(table.rows))},
      relation);
}

namespace {

ResolvedPlan resolve(const Plan& given, const SchemaFinder& schema) {
  require_sound_values(given);
  require_no_repetition(given);
  Plan plan = given;
  ResolvedPlan out;
  if (const auto found = plan.schema.empty() ? data::find_schema(plan.data) : std::nullopt) {
    plan.schema = *found;
    out.schema_was_found = true;
  }
  settle_unit(plan);
  if (!plan.rows && plan.unit.empty()) plan.rows = data::public_rows(plan.data);
  out.why_model = settle_model(plan, plan.model.is_auto() ? schema(plan) : std::nullopt);
  const RowFacts rows = facts_of_rows(plan, schema);
  out.why_method = substitute_method(plan, rows);
  const Recipe& recipe = recipe_of(plan.method);
  if (plan.model.is_network() && !recipe.takes_networks) {
    refuse(fmt::format("method {} is for linear models, and {} is a network; use dpsgd, dpadam, blsgd or l2p",
                       plan.method.name(), plan.model.name()));
  }
  if (plan.features == Features::hats && (plan.model.is_network() || plan.model.sees_scattering()))
    refuse(fmt::format("features: hats are for linear models of a table, not for {}; leave it out",
                       plan.model.name()));
  require_unit_form(plan);
  refuse_unused(plan, given.method);
  if (rows.bags && plan.method == MethodKind::dpsgd) fill_for_texts(plan);
  recipe.fill(plan);
  refuse_parts_of_other_choices(plan);
  out.budget = budget_of(plan);
  out.rate = rate_of(plan);
  const Sampling sampling = sampling_of(plan, out.rate);
  out.relation = relation_of(plan, sampling);
  require_lasting_units(plan, out.relation);
  if (sampling == Sampling::fixed_size) {
    out.fixed_size = fixed_size_of(plan, out.rate);
    out.rate = static_cast<double>(*out.fixed_size) / *plan.rows;
  }
  plan.rate = out.rate;
  plan.sampling = sampling;
  plan.relation = out.relation;
  if (plan.schedule.is_file()) out.schedule = read_noise_per_step(plan.schedule.file());
  Recipe::Open method = recipe.make(plan, out.budget_of_events());
  plan.accountant.choose_if_auto(tightest_accountant(sampling, method));
  out.accountant = plan.accountant.value();
  if (out.relation == Relation::add_remove && !plan.rows) out.count_noise = first_noise_for(out.budget);
  if (is_centered(plan)) out.mean_noise = first_noise_for(out.budget);
  out.plan = plan;
  std::visit([&out](auto&& open) { settle_method(out, std::forward<decltype(open)>(open)); },
             std::move(method));
  require_within_budget(out);
  require_deliverable(out);
  write_choices_into(out.plan, out);
  return out;
}

}  // namespace

ResolvedPlan resolve(const Plan& plan) {
  return resolve(plan, public_schema);
}

ResolvedPlan resolve(const Plan& plan, const data::Schema& schema) {
  return resolve(plan, [&](const Plan&) { return schema; });
}

data::Schema read_schema_of(const Plan& plan) {
  const auto own = data::schema_of_data(plan.data);
  if (plan.schema.empty() && !own) {
    refuse(
        "schema is needed: the public description of the columns; 'ration schema' drafts one from public "
        "rows");
  }
  data::Schema schema = plan.schema.empty() ? *own : data::read_schema(plan.schema);
  if (!plan.target.empty()) schema.label = plan.target;
  schema = fitted_to(plan, std::move(schema));
  data::require_sound(schema);
  require_sound(untrained_model(plan, schema));
  return schema;
}

data::Schema fitted_to(const Plan& given, data::Schema schema) {
  Plan plan = given;
  plan.model = model_for(given, schema);
  schema = with_unit(plan, std::move(schema));
  if (plan.row_norm) {
    schema.max_row_norm = std::min(*plan.row_norm, schema.max_row_norm.value_or(*plan.row_norm));
  }
  if (plan.model.is_network()) {
    schema.bias = false;  // layers have their own
    if (schema.text) schema.text->features = data::TextFeatures::ids;
  }
  if (plan.model.sees_scattering()) {
    if (!schema.image)
      refuse(fmt::format("model {} needs images: data such as mnist:DIR, fashion-mnist or cifar10:DIR",
                         plan.model.name()));
    schema.image->features = data::ImageFeatures::scatter;
  }
  schema = with_hats(plan, std::move(schema));
  if (plan.center == Centering::yes && (!schema.bias || schema.max_row_norm)) {
    refuse("center needs a bias column of ones; the schema has bias = false, or a bound on the rows");
  }
  if (recipe_of(plan.method).needs_bias && !schema.bias) {
    refuse(fmt::format("method {} needs the bias column; the schema says bias = false", plan.method.name()));
  }
  return schema;
}

Model untrained_model(const Plan& plan, const data::Schema& schema) {
  const ModelName name = model_for(plan, schema);
  Model model{.network = name.is_network() ? name.name() : "",
              .loss = name.loss(),
              .classes = schema.classes(),
              .huber_width = plan.huber_width,
              .schema = schema,
              .weights = {}};
  if (!shape_fault(model)) model.weights.resize(parameters(model));
  return model;
}

ModelShape shape_of(const Model& model, std::size_t columns, RandomSource& random) {
  ModelShape shape{.columns = columns, .outputs = outputs(model)};
  if (!model.network.empty()) {
    shape.start = networks().start(network_spec(model), random);
  } else {
    shape.groups = data::one_hot_groups(model.schema);
  }
  return shape;
}

}  // namespace ration
