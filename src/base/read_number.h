#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"

namespace ration {

// Reads all of `text` as a number in the interval, or throws InputError:
//   --rate: expected 0 < rate <= 1, got 'abc'
// `where` is the flag, or file:line; `name` is the parameter's name in the inequality.
double read_number(std::string_view where, std::string_view name, std::string_view text,
                   const Interval& allowed);

// The same for a count from 1 to a million million; 1e6 is accepted, 1.5 is not.
std::int64_t read_count(std::string_view where, std::string_view name, std::string_view text);

}  // namespace ration
