#include "data/complaint.h"

#include <fmt/format.h>

#include "ration/base/error.h"

namespace ration::data {

void refuse(std::string_view file, std::string_view message) {
  throw InputError(fmt::format("{}: {}", file, message));
}

void refuse(std::string_view file, std::uint64_t line, std::string_view message) {
  throw InputError(fmt::format("{}:{}: {}", file, line, message));
}

void refuse(std::string_view file, std::uint64_t line, std::string_view column, std::string_view message) {
  throw InputError(fmt::format("{}:{}: column {}: {}", file, line, in_quotes(column), message));
}

}  // namespace ration::data
