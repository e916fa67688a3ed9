#include "ration/base/check.h"

#include <fmt/format.h>

#include <cmath>

#include "ration/base/error.h"

namespace ration {

bool Interval::contains(double value) const {
  if (!std::isfinite(value)) return false;
  const bool above = low_open_ ? value > low_ : value >= low_;
  const bool below = high_open_ ? value < high_ : value <= high_;
  return above && below;
}

std::string Interval::describe(std::string_view name) const {
  const char* upper = high_open_ ? "<" : "<=";
  if (high_ < kUnbounded) {
    return fmt::format("{} {} {} {} {}", show(low_), low_open_ ? "<" : "<=", name, upper, show(high_));
  }
  return fmt::format("{} {} {}", name, low_open_ ? ">" : ">=", show(low_));
}

double require(std::string_view where, std::string_view name, double value, const Interval& allowed) {
  if (allowed.contains(value)) return value;
  throw InputError(
      fmt::format("{}: expected {}, got {}={}", where, allowed.describe(name), name, show(value)));
}

std::string show(double value) {
  return fmt::format("{}", value);
}

}  // namespace ration
