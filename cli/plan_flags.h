#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "ration/privacy/accountant.h"
#include "ration/schedules/noise_file.h"

namespace ration::cli {

enum class Sampling { full, poisson, fixed };

std::string_view to_string(Sampling sampling);

// A run of noisy gradient steps that is fixed before it starts: what `account` adds up.
struct StepPlan {
  Sampling sampling = Sampling::full;
  double rate = 1;  // 0 < rate <= 1; 1 for full batch
  Relation relation = Relation::add_remove;
  std::vector<NoiseRun> noise;
  std::string schedule_file;  // where `noise` came from; empty if from flags

  std::int64_t steps() const;
  Event event() const;
  // The plan stopped after its first `steps` steps.
  StepPlan first(std::int64_t steps) const;
  // "Poisson sampling at rate 0.01, noise multiplier 1, 1000 steps, relation add_remove"
  std::string describe() const;
  // The keys sampling, rate, noise_multiplier, steps, relation (and schedule).
  void write_to(nlohmann::ordered_json& json) const;
};

// The flags that describe a plan, as typed. They stay text until `read`, so that one place words the errors.
struct PlanFlags {
  std::optional<std::string> sampling, rate, noise, steps, schedule, relation;

  void add_sampling_to(CLI::App& command);
  void add_noise_and_steps_to(CLI::App& command);
  void add_schedule_to(CLI::App& command);

  // The plan without its noise: sampling, rate and relation, checked together.
  StepPlan read_sampling() const;
  // The rate is what is being looked for: refused if given.
  StepPlan read_sampling_without_rate() const;
  StepPlan read_plan() const;
  double read_noise() const;
  std::int64_t read_steps() const;
};

// --relation NAME.
Relation read_relation(const std::string& text);
// --accountant NAME or all.
std::vector<Accountant> read_accountants(const std::string& name);
double read_delta(const std::optional<std::string>& text);
double read_epsilon(const std::optional<std::string>& text);

}  // namespace ration::cli
