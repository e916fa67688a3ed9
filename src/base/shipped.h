#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

namespace ration {

// Where files that come with the program lie, first place first: share/ration/NAME beside the installed
// program, or NAME in the sources that it was built from.
std::vector<std::filesystem::path> shipped_folders(std::string_view name);

}  // namespace ration
