#include "data/number.h"

#include <charconv>
#include <cstdint>
#include <limits>

namespace ration::data {
namespace {

// Most cells of most tables: a few digits, exact as a double.
std::optional<double> parse_short_integer(std::string_view text) {
  constexpr std::size_t kExactDigits = 15;
  if (text.empty() || text.size() > kExactDigits) return std::nullopt;
  std::int64_t value = 0;
  for (const char c : text) {
    const auto digit = static_cast<unsigned char>(c - '0');
    if (digit > 9) return std::nullopt;
    value = value * 10 + digit;
  }
  return static_cast<double>(value);
}

}  // namespace

std::optional<double> parse_number(std::string_view text) {
  if (const auto integer = parse_short_integer(text)) return integer;
  if (text.starts_with('+')) {
    text.remove_prefix(1);
    if (text.starts_with('-')) return std::nullopt;
  }
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end != text.data() + text.size() || text.empty()) return std::nullopt;
  if (error == std::errc::result_out_of_range) {
    // Too small is as good as zero; too large is refused by whoever checks the bounds.
    const bool tiny = text.find("e-") != std::string_view::npos || text.find("E-") != std::string_view::npos;
    return tiny ? 0.0 : std::numeric_limits<double>::infinity();
  }
  if (error != std::errc()) return std::nullopt;
  return value;
}

}  // namespace ration::data
