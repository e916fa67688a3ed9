#pragma once

#include <string_view>

namespace ration {

// Well-formed UTF-8: no stray, missing or overlong byte, no surrogate, nothing above U+10FFFF. Plain ASCII
// costs one pass of eight bytes at a time.
bool is_utf8(std::string_view text);

}  // namespace ration
