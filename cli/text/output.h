#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace ration::cli {

// Writes to standard output; throws InternalError if that fails (a full disk, a closed pipe).
void print(std::string_view text);

// What --json prints: indented, and a newline at the end.
std::string json_text(const nlohmann::ordered_json& json);

}  // namespace ration::cli
