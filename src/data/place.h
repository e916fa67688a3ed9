#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ration/base/error.h"

namespace ration::data {

// A row breaks the schema. Readers catch it and do what on_bad_row says (row_faults.h).
class RowFault : public InputError {
 public:
  using InputError::InputError;
};

// Where a value came from: a line of a text file, or a row of an array.
struct Place {
  const std::string& file;
  std::uint64_t number;  // from 1
  bool is_line = true;

  // Both throw RowFault.
  [[noreturn]] void refuse(std::string_view column, std::string_view message) const;
  [[noreturn]] void refuse(std::string_view message) const;
  // Throws PublicFault: what is wrong is the header.
  [[noreturn]] void refuse_header(std::string_view column, std::string_view message) const;

  RowFault fault(std::string_view message) const;
};

}  // namespace ration::data
