#pragma once

#include <string>

namespace ration::cli {

// "capital-gain near 1332.5214321633246", a hat's name or the part behind its column's, with a number that
// can be read; other names as they are.
std::string with_short_number(const std::string& name);

}  // namespace ration::cli
