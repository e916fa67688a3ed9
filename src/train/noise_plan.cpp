#include "train/noise_plan.h"

#include <fmt/format.h>

#include "ration/base/error.h"
#include "schedules/noise_file.h"
#include "schedules/noise_shape.h"

namespace ration {
namespace {

constexpr std::int64_t kUsualSteps = 200;

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

NoiseShape shape_of(const Plan& plan) {
  switch (plan.schedule.kind()) {
    case ScheduleKind::uniform:
      return UniformNoise{};
    case ScheduleKind::exponential:
      return ExponentialNoise{plan.schedule_rate};
    case ScheduleKind::step:
      return StepNoise{plan.schedule_every, plan.schedule_factor};
    case ScheduleKind::time:
      return TimeNoise{plan.schedule_rate};
    case ScheduleKind::polynomial:
      return PolynomialNoise{plan.schedule_end, plan.schedule_power};
    case ScheduleKind::influence:
      return InfluenceNoise{plan.gamma};
    case ScheduleKind::influence_momentum:
      return MomentumInfluenceNoise{plan.gamma, plan.momentum};
  }
  throw InternalError("schedule: unknown shape");
}

std::vector<double> noise_shape_of(const Plan& plan, std::optional<std::int64_t> steps) {
  if (plan.schedule.is_file()) return shape_from_file(plan.schedule.file(), steps);
  return relative_noise(shape_of(plan), steps.value_or(kUsualSteps));
}

}  // namespace ration
