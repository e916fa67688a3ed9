#include "base/check.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "ration/base/error.h"

namespace ration {
namespace {

// Parsing the printed form tells on which side of the value it fell; the last digit is moved if need be.
std::string show_towards(double value, double direction) {
  if (!std::isfinite(value)) return show(value);
  std::string text = fmt::format("{:.6g}", value);
  double printed = 0;
  std::from_chars(text.data(), text.data() + text.size(), printed);
  const bool safe = direction > 0 ? printed >= value : printed <= value;
  if (safe) return text;
  const double last_digit = std::pow(10.0, std::floor(std::log10(std::abs(value))) - 5.0);
  return fmt::format("{:.6g}", printed + (direction > 0 ? last_digit : -last_digit));
}

}  // namespace

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

std::string show_rounded_up(double value) {
  return show_towards(value, +1);
}

std::string show_rounded_down(double value) {
  return show_towards(value, -1);
}

}  // namespace ration
