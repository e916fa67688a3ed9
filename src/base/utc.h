#pragma once

#include <string>

namespace ration {

// Now, in ISO 8601: 2026-01-31T12:00:00Z.
std::string utc_now();

}  // namespace ration
