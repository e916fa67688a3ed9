// Stable: changes only with a new major version.
#pragma once

#include "ration/base/names.h"

namespace ration {

// How the noise changes over a run: the shapes of schedules/noise_shape.h, in their order.
enum class ScheduleKind { uniform, exponential, step, time, polynomial, influence, influence_momentum };

// Their names.
inline constexpr NamedValue<ScheduleKind> kScheduleKinds[] = {
    {ScheduleKind::uniform, "uniform", "The same noise in every step."},
    {ScheduleKind::exponential, "exponential", "The noise falls exponentially (`schedule_rate`)."},
    {ScheduleKind::step, "step", "It drops by `schedule_factor` every `schedule_every` steps."},
    {ScheduleKind::time, "time", "It falls as 1 / (1 + `schedule_rate` t)."},
    {ScheduleKind::polynomial, "polynomial",
     "It falls to `schedule_end` of its start, with power `schedule_power`."},
    {ScheduleKind::influence, "influence", "Optimal for plain gradient descent: less noise late (`gamma`)."},
    {ScheduleKind::influence_momentum, "influence-momentum",
     "Optimal for gradient descent with momentum (`gamma`, `momentum`)."},
};
// Found by base/names.h.
constexpr NameTable<ScheduleKind> name_table(ScheduleKind) {
  return {"schedule", kScheduleKinds};
}

}  // namespace ration
