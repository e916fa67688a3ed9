#pragma once

#include <string>

namespace ration::data {

// A descriptor to read the file from; the caller closes it. A missing or unreadable file and a folder are
// refused.
int open_to_read(const std::string& path);

}  // namespace ration::data
