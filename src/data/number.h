#pragma once

#include <optional>
#include <string_view>

namespace ration::data {

// The whole text as a number: digits with an optional sign, point and exponent; also "nan" and "inf", which
// callers refuse with a message of their own. Nothing else around it, no hexadecimal; too large a value is
// infinite.
std::optional<double> parse_number(std::string_view text);

}  // namespace ration::data
