#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace ration::testing {

// A real file below the folder RATION_DATA; nothing where it is
// absent, and then the test says so and is skipped.
std::optional<std::string> data_file(const std::string& relative_path);

#define RATION_NEED_DATA(variable, relative_path)                                                      \
  const auto variable##_found = ::ration::testing::data_file(relative_path);                           \
  if (!variable##_found) GTEST_SKIP() << relative_path << " is absent; set RATION_DATA to its folder"; \
  const std::string variable = *variable##_found

// The bytes as a gzip file holds them.
std::string gzipped(std::string_view bytes);

}  // namespace ration::testing
