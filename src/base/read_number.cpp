#include "base/read_number.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <optional>

#include "base/quote.h"
#include "ration/base/error.h"

namespace ration {
namespace {

constexpr double kMostSteps = 1e12;

std::optional<double> parse(std::string_view text) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return value;
}

}  // namespace

double read_number(std::string_view where, std::string_view name, std::string_view text,
                   const Interval& allowed) {
  const std::optional<double> value = parse(text);
  if (value && allowed.contains(*value)) return *value;
  throw InputError(fmt::format("{}: expected {}, got {}", where, allowed.describe(name), in_quotes(text)));
}

std::int64_t read_count(std::string_view where, std::string_view name, std::string_view text) {
  const std::optional<double> value = parse(text);
  if (value && *value >= 1 && *value <= kMostSteps && *value == std::floor(*value)) {
    return static_cast<std::int64_t>(*value);
  }
  throw InputError(
      fmt::format("{}: expected a whole number with 1 <= {} <= 1e12, got {}", where, name, in_quotes(text)));
}

}  // namespace ration
