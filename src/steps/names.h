#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cstddef>
#include <string_view>

#include "ration/base/error.h"

namespace ration::steps {

// The values of an enumeration by name; `names` are in the order of the values.
template <class Enum, std::size_t N>
Enum value_named(std::string_view what, std::string_view name, const std::array<std::string_view, N>& names) {
  for (std::size_t i = 0; i < N; ++i) {
    if (names[i] == name) return static_cast<Enum>(i);
  }
  throw InputError(fmt::format("{}: expected one of {}, got '{}'", what, fmt::join(names, ", "), name));
}

template <class Enum, std::size_t N>
std::string_view name_of(Enum value, const std::array<std::string_view, N>& names) {
  return names.at(static_cast<std::size_t>(value));
}

}  // namespace ration::steps
