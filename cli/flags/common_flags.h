#pragma once

#include <optional>
#include <string>

#include "flags/cli11.h"

namespace ration::cli {

// Flags that several commands share, so that they are called and described alike.
void add_json_flag(CLI::App& command, bool& json);
void add_delta_flag(CLI::App& command, std::optional<std::string>& delta);
void add_relation_flag(CLI::App& command, std::optional<std::string>& relation);
void add_threads_flag(CLI::App& command, std::optional<std::string>& threads);

}  // namespace ration::cli
