#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "flags/step_plan_flags.h"

namespace ration::cli {

// What one accountant says about a plan: a guarantee, or why it cannot speak.
struct Answer {
  Accountant accountant;
  std::optional<Guarantee> guarantee;
  std::string refused;  // empty if there is a guarantee
  double seconds = 0;
};

// Never throws InputError: a refusal is an answer.
Answer ask(const StepPlan& plan, Accountant accountant, double delta);

// The keys epsilon, epsilon_lower, delta, accountant, certified, detail. JSON has no infinity: an infinite
// epsilon is null, and `epsilon_is` says "infinite".
void write_to(nlohmann::ordered_json& json, const Guarantee& guarantee);

// "yes", or "no: approximation" for what must never be certified.
std::string certified_word(const Guarantee& guarantee);
// The first clause of a refusal, for a table.
std::string in_few_words(const std::string& refused);

// Seconds since some fixed moment, for timing.
double now_in_seconds();

}  // namespace ration::cli
