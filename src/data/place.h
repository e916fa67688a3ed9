#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "data/advice.h"

namespace ration::data {

// A row breaks the schema. Readers catch it and do what on_bad_row says (row_faults.h).
class RowFault : public With<InputError> {
 public:
  // `advice` is about the schema, and follows what is said of the row.
  explicit RowFault(const std::string& complaint, std::string_view advice = {})
      : With(complaint + std::string(advice), complaint) {}
};

// Where a value came from: a line of a text file, or a row of an array.
struct Place {
  const std::string& file;
  std::uint64_t number;  // from 1
  bool is_line = true;

  // Both throw RowFault.
  [[noreturn]] void refuse(std::string_view column, std::string_view message,
                           std::string_view advice = {}) const;
  [[noreturn]] void refuse(std::string_view message) const;
  // Throws PublicFault: what is wrong is the header.
  [[noreturn]] void refuse_header(std::string_view column, std::string_view message,
                                  std::string_view advice = {}) const;

  RowFault fault(std::string_view message, std::string_view advice = {}) const;
};

}  // namespace ration::data
