#include "privacy/decimal_amount.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "ration/base/error.h"

namespace ration {
namespace {

__extension__ using Units = unsigned __int128;

constexpr int kPlaces = 30;  // decimal places of a unit

Units power_of_ten(int exponent) {
  Units power = 1;
  for (int i = 0; i < exponent; ++i) power *= 10;
  return power;
}

// digits * 10^exponent
struct Decimal {
  Units digits = 0;
  int exponent = 0;
};

// The shortest form that reads back as the same double, "1.25e-06", taken apart.
Decimal shortest_decimal(double value) {
  std::array<char, 40> text{};
  const auto [end, error] =
      std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::scientific);
  const std::string_view all(text.data(), static_cast<std::size_t>(end - text.data()));
  const std::size_t at = all.find('e');
  Decimal out;
  for (const char c : all.substr(0, at)) {
    if (c != '.') out.digits = out.digits * 10 + static_cast<Units>(c - '0');
  }
  const int digits_after_point = at > 1 ? static_cast<int>(at) - 2 : 0;
  const std::size_t sign = all[at + 1] == '+' ? 2 : 1;
  std::from_chars(all.data() + at + sign, all.data() + all.size(), out.exponent);
  out.exponent -= digits_after_point;
  return out;
}

Units to_units(double value, bool up) {
  if (!(value >= 0 && value < DecimalAmount::kLimit)) {
    throw InternalError(fmt::format("DecimalAmount: expected 0 <= value < 1e8, got value={}", value));
  }
  const Decimal decimal = shortest_decimal(value);
  const int shift = decimal.exponent + kPlaces;
  if (shift >= 0) return decimal.digits * power_of_ten(shift);
  if (-shift > 38) return up && decimal.digits > 0 ? 1 : 0;
  const Units divisor = power_of_ten(-shift);
  const bool rest = decimal.digits % divisor != 0;
  return decimal.digits / divisor + (up && rest ? 1 : 0);
}

std::string digits_of(Units number) {
  std::string digits;
  for (; number > 0; number /= 10) digits.push_back(static_cast<char>('0' + static_cast<int>(number % 10)));
  std::reverse(digits.begin(), digits.end());
  return digits.empty() ? "0" : digits;
}

bool all_digits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

DecimalAmount DecimalAmount::rounded_up(double value) {
  return DecimalAmount(to_units(value, true));
}

DecimalAmount DecimalAmount::rounded_down(double value) {
  return DecimalAmount(to_units(value, false));
}

std::optional<DecimalAmount> DecimalAmount::from_text(std::string_view text) {
  const std::size_t point = text.find('.');
  const std::string whole(text.substr(0, point));
  std::string fraction(point == std::string_view::npos ? "0" : text.substr(point + 1));
  if (!all_digits(whole) || !all_digits(fraction) || whole.size() > 8 || fraction.size() > kPlaces) {
    return std::nullopt;
  }
  fraction.resize(kPlaces, '0');
  Units units = 0;
  for (const char c : whole + fraction) units = units * 10 + static_cast<Units>(c - '0');
  return DecimalAmount(units);
}

std::string DecimalAmount::to_text() const {
  const Units one = power_of_ten(kPlaces);
  std::string fraction = digits_of(units_ % one);
  fraction.insert(0, kPlaces - fraction.size(), '0');
  fraction.erase(fraction.find_last_not_of('0') + 1);
  const std::string whole = digits_of(units_ / one);
  return fraction.empty() ? whole : whole + "." + fraction;
}

double DecimalAmount::nearest_double() const {
  const std::string text = to_text();
  double value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

double DecimalAmount::largest_double() const {
  double value = nearest_double();
  while (value > 0 && *this < rounded_up(value)) value = std::nextafter(value, 0.0);
  return value;
}

double DecimalAmount::smallest_double() const {
  double value = nearest_double();
  while (value < kLimit && rounded_down(value) < *this) value = std::nextafter(value, kLimit);
  return value;
}

}  // namespace ration
