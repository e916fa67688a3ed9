#include "ration/schedules/noise_shape.h"

#include <fmt/format.h>

#include "ration/base/check.h"
#include "ration/base/error.h"

namespace ration {

std::vector<double> noise_shape(std::string_view name, std::int64_t steps) {
  require("schedule", "steps", static_cast<double>(steps), at_least(1).at_most(1e8));
  if (name == "uniform") return std::vector<double>(static_cast<std::size_t>(steps), 1.0);
  throw InputError(fmt::format("schedule: expected 'uniform', got '{}'", name));
}

}  // namespace ration
