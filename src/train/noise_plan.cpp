#include "train/noise_plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "ration/base/error.h"
#include "schedules/noise_file.h"
#include "schedules/noise_shape.h"

namespace ration {
namespace {

constexpr std::int64_t kUsualSteps = 200;

NoiseShape shape_named(const Plan& plan) {
  if (plan.schedule == "uniform") return UniformNoise{};
  if (plan.schedule == "exponential") return ExponentialNoise{plan.schedule_rate};
  if (plan.schedule == "step") return StepNoise{plan.schedule_every, plan.schedule_factor};
  if (plan.schedule == "time") return TimeNoise{plan.schedule_rate};
  if (plan.schedule == "polynomial") return PolynomialNoise{plan.schedule_end, plan.schedule_power};
  if (plan.schedule == "influence") return InfluenceNoise{plan.gamma};
  return MomentumInfluenceNoise{plan.gamma, plan.momentum};
}

std::vector<double> shape_from_file(const std::string& path, std::optional<std::int64_t> steps) {
  std::vector<double> shape = read_noise_per_step(path);
  if (steps && *steps != static_cast<std::int64_t>(shape.size())) {
    throw InputError(
        fmt::format("plan: schedule {} has {} steps, but the plan asks for {}; leave steps and epochs out",
                    path, shape.size(), *steps));
  }
  return shape;
}

}  // namespace

const std::vector<std::string>& schedule_names() {
  static const std::vector<std::string> names = {
      "uniform", "exponential", "step", "time", "polynomial", "influence", "influence-momentum"};
  return names;
}

bool is_schedule_file(std::string_view schedule) {
  return schedule.find_first_of("./") != std::string_view::npos;
}

void require_schedule(std::string_view where, std::string_view schedule) {
  const std::vector<std::string>& names = schedule_names();
  if (is_schedule_file(schedule) || std::find(names.begin(), names.end(), schedule) != names.end()) return;
  if (schedule == "influence:estimated") {
    throw InputError(fmt::format(
        "{}: influence:estimated is measured on public rows first: 'ration schedule --shape "
        "influence:estimated "
        "--data PUBLIC.csv --schema SCHEMA.toml ... --out schedule.csv', then --schedule schedule.csv",
        where));
  }
  throw InputError(fmt::format("{}: expected one of {}, or a file such as ./schedule.csv, got '{}'", where,
                               fmt::join(names, ", "), schedule));
}

std::vector<double> noise_shape_of(const Plan& plan, std::optional<std::int64_t> steps) {
  if (is_schedule_file(plan.schedule)) return shape_from_file(plan.schedule, steps);
  return relative_noise(shape_named(plan), steps.value_or(kUsualSteps));
}

}  // namespace ration
