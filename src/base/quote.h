#pragma once

#include <string>
#include <string_view>

namespace ration {

// Text of any origin, made fit for a message: whoever wrote a file must not be able to write escape sequences
// to the terminal of whoever reads it, nor a message of a million characters.

// Control characters and bytes that are no UTF-8 as \xNN.
std::string one_line(std::string_view text);

// The same between single quotes; what is longer than 40 bytes is cut and says so.
std::string in_quotes(std::string_view value);

// What a library says of a text it could not read, which may hold any part of it: one line, cut after 200
// bytes.
std::string one_short_line(std::string_view text);

}  // namespace ration
