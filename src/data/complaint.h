#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/quote.h"

namespace ration::data {

// How every reader words what it refuses: one line, "file:line: column 'name': value and rule".

using ration::in_quotes;
using ration::one_line;

[[noreturn]] void refuse(std::string_view file, std::string_view message);
[[noreturn]] void refuse(std::string_view file, std::uint64_t line, std::string_view message);
[[noreturn]] void refuse(std::string_view file, std::uint64_t line, std::string_view column,
                         std::string_view message);

}  // namespace ration::data
