#pragma once

#include <cstddef>
#include <span>
#include <variant>

namespace ration {

// Numbers to be changed in place, in 64 bits or in 32.
using AnyNumbers = std::variant<std::span<double>, std::span<float>>;

inline std::size_t size_of(const AnyNumbers& numbers) {
  return std::visit([](auto chosen) { return chosen.size(); }, numbers);
}

}  // namespace ration
