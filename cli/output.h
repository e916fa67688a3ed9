#pragma once

#include <string>
#include <string_view>

namespace ration::cli {

// Writes beside `path` and renames, so that the file is either whole or not there. Throws InputError naming
// the path and the reason.
void write_file(const std::string& path, std::string_view content);

// Writes to standard output; throws InternalError if that fails (a full disk, a closed pipe).
void print(std::string_view text);

}  // namespace ration::cli
