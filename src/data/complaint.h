#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ration::data {

// How every reader words what it refuses: one line, "file:line: column 'name': value and rule".

// A value between single quotes, made fit for one line of a terminal: control characters and bytes that are
// no UTF-8 become \xNN, and what is longer than 40 bytes is cut and says so.
std::string quoted(std::string_view value);

// Control characters and bytes that are no UTF-8 as \xNN: a text of any origin, safe to show.
std::string one_line(std::string_view text);

[[noreturn]] void refuse(std::string_view file, std::string_view message);
[[noreturn]] void refuse(std::string_view file, std::uint64_t line, std::string_view message);
[[noreturn]] void refuse(std::string_view file, std::uint64_t line, std::string_view column,
                         std::string_view message);

}  // namespace ration::data
