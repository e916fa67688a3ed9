#pragma once

#include <string>
#include <string_view>

namespace ration {

// SHA-256 as 64 lower-case hexadecimal digits.
std::string sha256(std::string_view bytes);

// The same over the raw bytes of a file, in constant memory. Throws InputError if it cannot be read.
std::string sha256_of_file(const std::string& path);

}  // namespace ration
