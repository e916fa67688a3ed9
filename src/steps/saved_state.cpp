#include "steps/saved_state.h"

#include <fmt/format.h>

#include <cmath>

#include "base/check.h"
#include "ration/base/error.h"

namespace ration::steps {

void require_size(std::string_view where, std::string_view what, std::size_t size, std::size_t expected) {
  if (size == expected) return;
  throw InputError(fmt::format("{}: expected {} of size {}, got size {}", where, what, expected, size));
}

std::int64_t saved_count(std::string_view where, double value) {
  constexpr double kLargestExact = 9007199254740992.0;  // 2^53
  if (value == std::floor(require(where, "count", value, at_least(0).at_most(kLargestExact)))) {
    return static_cast<std::int64_t>(value);
  }
  throw InputError(fmt::format("{}: expected a whole count, got {}", where, show(value)));
}

}  // namespace ration::steps
