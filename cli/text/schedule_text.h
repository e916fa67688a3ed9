#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "flags/schedule_flags.h"

namespace ration::cli {

// For people: a table of some steps, the bound, and the best numbers of steps.
std::string to_text(const ScheduleAnswer& answer);
// One noise multiplier per line, rounded up.
std::string only_the_noise(const ScheduleAnswer& answer);
// All of it; `noise_multipliers` has every step.
void write_to(nlohmann::ordered_json& json, const ScheduleAnswer& answer);
// Noise against the step, the uniform schedule beside it.
std::string plot_schedule(const ScheduleAnswer& answer);
std::string warning_of_public_rows(const ScheduleAnswer& answer);

}  // namespace ration::cli
