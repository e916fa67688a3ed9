#pragma once

#include <string_view>

namespace ration {

// Of this library: "0.2.0".
std::string_view version();

}  // namespace ration
