#include "plan_flags.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "ration/base/error.h"
#include "ration/base/read_number.h"

namespace ration::cli {
namespace {

using nlohmann::ordered_json;

const Interval kRate = greater_than(0).at_most(1);
const Interval kNoise = greater_than(0);
const Interval kDelta = greater_than(0).less_than(1);

Sampling read_sampler(const std::optional<std::string>& text) {
  if (!text) throw InputError("--sampling is needed: full, poisson or fixed");
  for (const Sampling sampling : {Sampling::full, Sampling::poisson, Sampling::fixed}) {
    if (*text == to_string(sampling)) return sampling;
  }
  if (*text == "shuffle" || *text == "epochs") {
    throw InputError(fmt::format(
        "--sampling: '{}' is not certified by any accountant here; use full, poisson or fixed", *text));
  }
  throw InputError(fmt::format("--sampling: expected full, poisson or fixed, got '{}'", *text));
}

Relation relation_for(const std::optional<std::string>& text, Sampling sampling) {
  if (!text) return sampling == Sampling::fixed ? Relation::replace_one : Relation::add_remove;
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
    throw InputError(fmt::format("--rate is needed with --sampling {}: 0 < rate <= 1", to_string(sampling)));
  }
  return read_number("--rate", "rate", *text, kRate);
}

Event sampled(const StepPlan& plan, double noise_multiplier) {
  Event step = Event::gaussian(noise_multiplier);
  if (plan.sampling == Sampling::poisson) return Event::poisson_sampled(plan.rate, step);
  if (plan.sampling == Sampling::fixed) return Event::fixed_size_sampled(plan.rate, step);
  return step;
}

std::pair<double, double> noise_range(const std::vector<NoiseRun>& noise) {
  const auto [low, high] = std::minmax_element(
      noise.begin(), noise.end(),
      [](const NoiseRun& a, const NoiseRun& b) { return a.noise_multiplier < b.noise_multiplier; });
  return {low->noise_multiplier, high->noise_multiplier};
}

std::string describe_noise(const StepPlan& plan) {
  if (plan.schedule_file.empty())
    return fmt::format("noise multiplier {}", plan.noise.front().noise_multiplier);
  const auto [low, high] = noise_range(plan.noise);
  return fmt::format("noise multipliers {} to {} from {}", low, high, plan.schedule_file);
}

std::string describe_sampling(const StepPlan& plan) {
  if (plan.sampling == Sampling::full) return "full batch";
  return fmt::format("{} sampling at rate {}", plan.sampling == Sampling::poisson ? "Poisson" : "fixed-size",
                     plan.rate);
}

}  // namespace

std::string_view to_string(Sampling sampling) {
  if (sampling == Sampling::full) return "full";
  return sampling == Sampling::poisson ? "poisson" : "fixed";
}

std::int64_t StepPlan::steps() const {
  std::int64_t total = 0;
  for (const NoiseRun& run : noise) total += run.steps;
  return total;
}

// Order does not matter to any accountant, so steps with equal noise are counted together.
Event StepPlan::event() const {
  std::map<double, std::int64_t> steps_with_noise;
  for (const NoiseRun& run : noise) steps_with_noise[run.noise_multiplier] += run.steps;
  std::vector<Event> parts;
  for (const auto& [noise_multiplier, steps] : steps_with_noise) {
    parts.push_back(Event::repeated(sampled(*this, noise_multiplier), steps));
  }
  return parts.size() == 1 ? parts.front() : Event::composed(std::move(parts));
}

StepPlan StepPlan::first(std::int64_t steps) const {
  StepPlan prefix = *this;
  prefix.noise.clear();
  for (const NoiseRun& run : noise) {
    if (steps == 0) break;
    const std::int64_t taken = std::min(steps, run.steps);
    prefix.noise.push_back({run.noise_multiplier, taken});
    steps -= taken;
  }
  return prefix;
}

std::string StepPlan::describe() const {
  return fmt::format("{}, {}, {} step{}, relation {}", describe_sampling(*this), describe_noise(*this),
                     steps(), steps() == 1 ? "" : "s", ration::to_string(relation));
}

void StepPlan::write_to(ordered_json& json) const {
  json["relation"] = ration::to_string(relation);
  json["sampling"] = to_string(sampling);
  json["rate"] = rate;
  if (schedule_file.empty()) {
    json["noise_multiplier"] = noise.front().noise_multiplier;
  } else {
    const auto [low, high] = noise_range(noise);
    json["noise_multiplier"] = nullptr;
    json["schedule"] = {{"file", schedule_file}, {"noise_min", low}, {"noise_max", high}};
  }
  json["steps"] = steps();
}

void PlanFlags::add_sampling_to(CLI::App& command) {
  command.add_option("--sampling", sampling, "How a step draws its rows: full, poisson or fixed")
      ->type_name("KIND");
  command
      .add_option("--rate", rate,
                  "Chance of a row (poisson) or part of the rows (fixed) in a step, 0 < rate <= 1")
      ->type_name("Q");
  command
      .add_option("--relation", relation,
                  "Neighbouring data sets: add_remove (default for full and poisson) or replace_one "
                  "(default for fixed)")
      ->type_name("NAME");
}

void PlanFlags::add_noise_and_steps_to(CLI::App& command) {
  command
      .add_option("--noise", noise,
                  "Noise multiplier: standard deviation over the query's sensitivity under the relation "
                  "(for gradients clipped to C: C for add_remove, 2C for replace_one), > 0")
      ->type_name("SIGMA");
  command.add_option("--steps", steps, "Number of steps, a whole number >= 1")->type_name("T");
}

void PlanFlags::add_schedule_to(CLI::App& command) {
  command
      .add_option("--schedule", schedule,
                  "File of noise multipliers, one line per step or 'SIGMA x COUNT'; in place of --noise "
                  "and --steps")
      ->type_name("FILE");
}

StepPlan PlanFlags::read_sampling() const {
  StepPlan plan;
  plan.sampling = read_sampler(sampling);
  plan.rate = read_rate(rate, plan.sampling);
  plan.relation = relation_for(relation, plan.sampling);
  return plan;
}

StepPlan PlanFlags::read_sampling_without_rate() const {
  StepPlan plan;
  plan.sampling = read_sampler(sampling);
  if (plan.sampling == Sampling::full) {
    throw InputError("--for rate: --sampling full has no rate to choose; use --sampling poisson or fixed");
  }
  if (rate) throw InputError("--rate: with --for rate the rate is the answer; leave --rate out");
  plan.relation = relation_for(relation, plan.sampling);
  return plan;
}

StepPlan PlanFlags::read_plan() const {
  StepPlan plan = read_sampling();
  if (!schedule) {
    plan.noise = {{read_noise(), read_steps()}};
    return plan;
  }
  if (noise || steps) {
    throw InputError(
        fmt::format("--schedule takes the place of --noise and --steps; leave {} out", noise && steps ? "both"
                                                                                       : noise ? "--noise"
                                                                                               : "--steps"));
  }
  plan.noise = read_noise_file(*schedule);
  plan.schedule_file = *schedule;
  return plan;
}

double PlanFlags::read_noise() const {
  if (!noise) throw InputError("--noise is needed: a noise multiplier > 0");
  return read_number("--noise", "noise", *noise, kNoise);
}

std::int64_t PlanFlags::read_steps() const {
  if (!steps) throw InputError("--steps is needed: a whole number >= 1");
  return read_count("--steps", "steps", *steps);
}

Relation read_relation(const std::string& text) {
  for (const Relation relation : {Relation::add_remove, Relation::replace_one}) {
    if (text == ration::to_string(relation)) return relation;
  }
  throw InputError(fmt::format("--relation: expected add_remove or replace_one, got '{}'", text));
}

std::vector<Accountant> read_accountants(const std::string& name) {
  if (name == "all") return {kAccountants.begin(), kAccountants.end()};
  for (const Accountant accountant : kAccountants) {
    if (ration::to_string(accountant) == name) return {accountant};
  }
  std::string known;
  for (const Accountant accountant : kAccountants)
    known += fmt::format("{}, ", ration::to_string(accountant));
  throw InputError(fmt::format("--accountant: expected {}or all, got '{}'", known, name));
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
