#include "data/place.h"

#include <fmt/format.h>

#include "data/complaint.h"
#include "ration/base/error.h"

namespace ration::data {

void Place::refuse(std::string_view message) const {
  throw InputError(fmt::format("{}{}{}: {}", file, is_line ? ":" : ": row ", number, message));
}

void Place::refuse(std::string_view column, std::string_view message) const {
  refuse(fmt::format("column {}: {}", quoted(column), message));
}

}  // namespace ration::data
