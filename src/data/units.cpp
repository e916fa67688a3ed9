#include "ration/data/units.h"

#include <fmt/format.h>

#include <utility>

#include "ration/base/error.h"

namespace ration {

Units::Units(std::vector<std::size_t> starts, std::size_t most_rows, bool even)
    : starts_(std::move(starts)), most_rows_(most_rows), even_(even) {
  if (starts_.empty() || starts_.front() != 0) throw InputError("units: expected starts that begin with 0");
  if (most_rows == 0) throw InputError("units: expected at least one row per unit, got a bound of 0");
  for (std::size_t unit = 0; unit < count(); ++unit) {
    if (starts_[unit + 1] < starts_[unit]) throw InputError("units: expected starts that do not fall");
    if (size(unit) <= most_rows) continue;
    throw InputError(fmt::format("units: expected at most {} rows of a unit, got more", most_rows));
  }
}

}  // namespace ration
