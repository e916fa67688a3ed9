#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ration::data {

// Where a value came from: a line of a text file, or a row of an array.
struct Place {
  const std::string& file;
  std::uint64_t number;  // from 1
  bool is_line = true;

  [[noreturn]] void refuse(std::string_view column, std::string_view message) const;
  [[noreturn]] void refuse(std::string_view message) const;
};

}  // namespace ration::data
