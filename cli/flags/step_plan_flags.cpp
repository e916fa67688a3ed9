#include "flags/step_plan_flags.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
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

// Without --sampling, the rate decides.
Sampling read_sampler(const std::optional<std::string>& text, double rate) {
  if (!text) return usual_sampling(rate);
  if (*text == "shuffle" || *text == "epochs") {
    throw InputError(fmt::format(
        "--sampling: '{}' is not certified by any accountant here; use full, poisson or fixed", *text));
  }
  const auto sampling = NamedOrAuto<Sampling>::parsed("--sampling", *text);
  return sampling.is_auto() ? usual_sampling(rate) : sampling.value();
}

Relation relation_for(const std::optional<std::string>& text, Sampling sampling) {
  const auto relation = text ? NamedOrAuto<Relation>::parsed("--relation", *text) : NamedOrAuto<Relation>();
  return relation.is_auto() ? usual_relation(sampling) : relation.value();
}

double rate_or_all(const std::optional<std::string>& text) {
  return text ? read_number("--rate", "rate", *text, kRate) : 1;
}

double read_rate(const std::optional<std::string>& text, Sampling sampling) {
  if (sampling == Sampling::full) {
    if (rate_or_all(text) != 1) {
      throw InputError(
          fmt::format("--rate: --sampling full uses every row, so rate is 1, got '{}'; leave --rate out, or "
                      "use --sampling "
                      "poisson or fixed",
                      *text));
    }
    return 1;
  }
  if (!text) {
    throw InputError(fmt::format("--rate is needed with --sampling {}: 0 < rate <= 1", to_string(sampling)));
  }
  return read_number("--rate", "rate", *text, kRate);
}

}  // namespace

void write_to(nlohmann::ordered_json& json, const StepPlan& plan) {
  json["relation"] = ration::to_string(plan.relation);
  json["sampling"] = to_string(plan.sampling);
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
  offer_names<Sampling>(command
                            .add_option("--sampling", sampling,
                                        "Which rows a step uses (default: poisson if --rate is below 1, "
                                        "otherwise full)")
                            ->type_name("NAME"),
                        {{std::string(kAuto), "poisson if --rate is below 1, otherwise full."}});
  command
      .add_option("--rate", rate,
                  "Probability of a row (poisson) or fraction of the rows (fixed) in a step, 0 < rate <= 1")
      ->type_name("Q");
  offer_names<Relation>(command
                            .add_option("--relation", relation,
                                        "Which data sets are neighbours: add_remove (default for full and "
                                        "poisson) or replace_one (default for fixed)")
                            ->type_name("NAME"),
                        {{std::string(kAuto), "replace_one for fixed, otherwise add_remove."}});
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
  plan.sampling = read_sampler(sampling, rate_or_all(rate));
  plan.rate = read_rate(rate, plan.sampling);
  plan.relation = relation_for(relation, plan.sampling);
  return plan;
}

StepPlan StepPlanFlags::read_sampling_without_rate() const {
  StepPlan plan;
  plan.sampling = read_sampler(sampling, /*rate=*/0);
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

void add_accountant_to(CLI::App& command, std::optional<std::string>& accountant, bool also_all) {
  std::vector<Choice> others = {{std::string(kAuto), "The tightest that certifies the steps."}};
  if (also_all) others.push_back({"all", "Compare them."});
  offer_names<Accountant>(
      command
          .add_option("--accountant", accountant,
                      fmt::format("Privacy accountant: {}{} (default: auto, the tightest that certifies the "
                                  "steps)",
                                  fmt::join(names_of<Accountant>({kAuto}), ", "),
                                  also_all ? ", or all to compare them" : ""))
          ->type_name("NAME"),
      others);
}

Accountant read_accountant(const std::optional<std::string>& name, Sampling sampling) {
  const auto accountant =
      name ? NamedOrAuto<Accountant>::parsed("--accountant", *name) : NamedOrAuto<Accountant>();
  return accountant.is_auto() ? usual_accountant(sampling) : accountant.value();
}

std::vector<Accountant> read_accountants(const std::optional<std::string>& name, Sampling sampling) {
  if (name == "all") return {kAccountants.begin(), kAccountants.end()};
  if (name && *name != kAuto) return {named<Accountant>("--accountant", *name, {kAuto, "all"})};
  return {read_accountant(name, sampling)};
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
