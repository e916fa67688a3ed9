#include "flags/step_plan_flags.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/read_number.h"
#include "flags/explain.h"
#include "ration/base/error.h"
#include "schedules/noise_file.h"

namespace ration::cli {
namespace {

using nlohmann::ordered_json;

const Interval kRate = greater_than(0).at_most(1);
const Interval kNoise = greater_than(0);
const Interval kDelta = greater_than(0).less_than(1);

constexpr std::array kKnownSamplings = {Sampling::full, Sampling::poisson, Sampling::fixed_size};
constexpr std::array kKnownRelations = {Relation::add_remove, Relation::replace_one};

std::vector<std::string> names_of_samplings() {
  std::vector<std::string> names;
  for (const Sampling one : kKnownSamplings) names.emplace_back(name_of(one));
  return names;
}

Sampling read_sampler(const std::optional<std::string>& text) {
  if (!text) throw InputError("--sampling is needed: full, poisson or fixed");
  for (const Sampling sampling : kKnownSamplings) {
    if (*text == name_of(sampling)) return sampling;
  }
  if (*text == "shuffle" || *text == "epochs") {
    throw InputError(fmt::format(
        "--sampling: '{}' is not certified by any accountant here; use full, poisson or fixed", *text));
  }
  throw InputError(fmt::format("--sampling: expected full, poisson or fixed, got '{}'", *text));
}

Relation relation_for(const std::optional<std::string>& text, Sampling sampling) {
  if (!text) return sampling == Sampling::fixed_size ? Relation::replace_one : Relation::add_remove;
  return read_relation(*text);
}

double read_rate(const std::optional<std::string>& text, Sampling sampling) {
  if (sampling == Sampling::full) {
    if (text && read_number("--rate", "rate", *text, kRate) != 1) {
      throw InputError(
          fmt::format("--rate: --sampling full uses every row, so rate is 1, got '{}'; leave --rate out, or "
                      "use --sampling "
                      "poisson or fixed",
                      *text));
    }
    return 1;
  }
  if (!text) {
    throw InputError(fmt::format("--rate is needed with --sampling {}: 0 < rate <= 1", name_of(sampling)));
  }
  return read_number("--rate", "rate", *text, kRate);
}

}  // namespace

void write_to(nlohmann::ordered_json& json, const StepPlan& plan) {
  json["relation"] = ration::to_string(plan.relation);
  json["sampling"] = name_of(plan.sampling);
  json["rate"] = plan.rate;
  if (plan.schedule_file.empty()) {
    json["noise_multiplier"] = plan.noise.front().noise_multiplier;
  } else {
    const auto [low, high] = plan.noise_range();
    json["noise_multiplier"] = nullptr;
    json["schedule"] = {{"file", plan.schedule_file}, {"noise_min", low}, {"noise_max", high}};
  }
  json["steps"] = plan.steps();
}

void StepPlanFlags::add_sampling_to(CLI::App& command) {
  offer(command.add_option("--sampling", sampling, "How a step samples its rows: full, poisson or fixed")
            ->type_name("KIND"),
        names_of_samplings());
  command
      .add_option("--rate", rate,
                  "Probability of a row (poisson) or fraction of the rows (fixed) in a step, 0 < rate <= 1")
      ->type_name("Q");
  offer(command
            .add_option("--relation", relation,
                        "Which data sets are neighbours: add_remove (default for full and poisson) or "
                        "replace_one (default for fixed)")
            ->type_name("NAME"),
        names_of_relations());
}

void StepPlanFlags::add_noise_and_steps_to(CLI::App& command) {
  command
      .add_option(
          "--noise", noise,
          "Noise multiplier, > 0: the standard deviation divided by the sensitivity under the relation "
          "(for gradients clipped to C: C for add_remove, 2C for replace_one)")
      ->type_name("SIGMA");
  command.add_option("--steps", steps, "Number of steps, a whole number >= 1")->type_name("T");
}

void StepPlanFlags::add_schedule_to(CLI::App& command) {
  command
      .add_option("--schedule", schedule,
                  "File of noise multipliers, one line per step or 'SIGMA x COUNT'; replaces --noise "
                  "and --steps")
      ->type_name("FILE");
}

StepPlan StepPlanFlags::read_sampling() const {
  StepPlan plan;
  plan.sampling = read_sampler(sampling);
  plan.rate = read_rate(rate, plan.sampling);
  plan.relation = relation_for(relation, plan.sampling);
  return plan;
}

StepPlan StepPlanFlags::read_sampling_without_rate() const {
  StepPlan plan;
  plan.sampling = read_sampler(sampling);
  if (plan.sampling == Sampling::full) {
    throw InputError("--for rate: --sampling full has no rate to choose; use --sampling poisson or fixed");
  }
  if (rate) throw InputError("--rate: with --for rate the rate is the answer; leave --rate out");
  plan.relation = relation_for(relation, plan.sampling);
  return plan;
}

StepPlan StepPlanFlags::read_plan() const {
  StepPlan plan = read_sampling();
  if (!schedule) {
    plan.noise = {{read_noise(), read_steps()}};
    return plan;
  }
  if (noise || steps) {
    throw InputError(
        fmt::format("--schedule replaces --noise and --steps; leave {} out", noise && steps ? "both"
                                                                             : noise        ? "--noise"
                                                                                            : "--steps"));
  }
  plan.noise = read_noise_file(*schedule);
  plan.schedule_file = *schedule;
  return plan;
}

double StepPlanFlags::read_noise() const {
  if (!noise) throw InputError("--noise is needed: a noise multiplier > 0");
  return read_number("--noise", "noise", *noise, kNoise);
}

std::int64_t StepPlanFlags::read_steps() const {
  if (!steps) throw InputError("--steps is needed: a whole number >= 1");
  return read_count("--steps", "steps", *steps);
}

std::vector<std::string> names_of_relations() {
  std::vector<std::string> names;
  for (const Relation one : kKnownRelations) names.emplace_back(ration::to_string(one));
  return names;
}

std::vector<std::string> names_of_accountants() {
  std::vector<std::string> names;
  for (const Accountant one : kAccountants) names.emplace_back(ration::to_string(one));
  return names;
}

void add_accountant_to(CLI::App& command, std::string& accountant) {
  std::vector<std::string> names = names_of_accountants();
  names.emplace_back("all");
  offer(command
            .add_option("--accountant", accountant,
                        "Privacy accountant: rdp (default), pld (tightest), zcdp, tcdp, gdp, advanced, "
                        "moments, or all to compare them")
            ->type_name("NAME"),
        names);
}

Relation read_relation(const std::string& text) {
  for (const Relation relation : kKnownRelations) {
    if (text == ration::to_string(relation)) return relation;
  }
  throw InputError(fmt::format("--relation: expected add_remove or replace_one, got '{}'", text));
}

std::vector<Accountant> read_accountants(const std::string& name) {
  if (name == "all") return {kAccountants.begin(), kAccountants.end()};
  for (const Accountant accountant : kAccountants) {
    if (ration::to_string(accountant) == name) return {accountant};
  }
  throw InputError(fmt::format("--accountant: expected {}, or all, got '{}'",
                               fmt::join(names_of_accountants(), ", "), name));
}

double read_delta(const std::optional<std::string>& text) {
  if (!text) throw InputError("--delta is needed: 0 < delta < 1, well below 1 / rows");
  return read_number("--delta", "delta", *text, kDelta);
}

double read_epsilon(const std::optional<std::string>& text) {
  if (!text) throw InputError("--epsilon is needed: the target, epsilon > 0");
  return read_number("--epsilon", "epsilon", *text, greater_than(0));
}

}  // namespace ration::cli
