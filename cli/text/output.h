#pragma once

#include <string_view>

namespace ration::cli {

// Writes to standard output; throws InternalError if that fails (a full disk, a closed pipe).
void print(std::string_view text);

}  // namespace ration::cli
