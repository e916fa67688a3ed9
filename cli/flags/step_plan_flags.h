#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "flags/cli11.h"
#include "privacy/step_plan.h"
#include "ration/privacy/accountant.h"

namespace ration::cli {

// The keys sampling, rate, noise_multiplier, steps, relation (and schedule).
void write_to(nlohmann::ordered_json& json, const StepPlan& plan);

// The flags that describe a plan, as typed. They stay text until `read`, so that one place words the errors.
struct StepPlanFlags {
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

// --accountant NAME; left out or auto, the tightest that certifies steps with this sampling.
void add_accountant_to(CLI::App& command, std::optional<std::string>& accountant, bool also_all = false);
Accountant read_accountant(const std::optional<std::string>& name, Sampling sampling);
// The same, or all of them.
std::vector<Accountant> read_accountants(const std::optional<std::string>& name, Sampling sampling);
double read_delta(const std::optional<std::string>& text);
double read_epsilon(const std::optional<std::string>& text);

}  // namespace ration::cli
