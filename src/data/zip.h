#pragma once

#include <span>
#include <string>
#include <vector>

namespace ration::data {

// One member of a zip archive in memory, stored or deflated, with its checksum verified. `file` is named in
// messages; a missing member is refused with the names that are there. Members of 4 GiB and more are refused.
std::vector<char> zip_member(std::span<const char> archive, const std::string& name, const std::string& file);

}  // namespace ration::data
