#include "privacy/step_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace ration {
namespace {

Event sampled(const StepPlan& plan, double noise_multiplier) {
  Event step = Event::gaussian(noise_multiplier);
  switch (plan.sampling) {
    case Sampling::full:
      break;
    case Sampling::poisson:
      return Event::poisson_sampled(plan.rate, step);
    case Sampling::fixed_size:
      return Event::fixed_size_sampled(plan.rate, step);
  }
  return step;
}

std::string describe_noise(const StepPlan& plan) {
  if (plan.schedule_file.empty())
    return fmt::format("noise multiplier {}", plan.noise.front().noise_multiplier);
  const auto [low, high] = plan.noise_range();
  return fmt::format("noise multipliers {} to {} from {}", low, high, plan.schedule_file);
}

std::string describe_sampling(const StepPlan& plan) {
  if (plan.sampling == Sampling::full) return "full batch";
  return fmt::format("{} sampling at rate {}", plan.sampling == Sampling::poisson ? "Poisson" : "fixed-size",
                     plan.rate);
}

}  // namespace

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
                     steps(), steps() == 1 ? "" : "s", to_string(relation));
}

std::pair<double, double> StepPlan::noise_range() const {
  const auto [low, high] = std::minmax_element(
      noise.begin(), noise.end(),
      [](const NoiseRun& a, const NoiseRun& b) { return a.noise_multiplier < b.noise_multiplier; });
  return {low->noise_multiplier, high->noise_multiplier};
}

}  // namespace ration
