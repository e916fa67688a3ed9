#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace ration::data {

// Whether people usually mean a missing value by this text. No more than a guess: the schema decides.
inline bool marks_missing(std::string_view text) {
  constexpr std::array<std::string_view, 8> kMarks = {"", "?", "NA", "N/A", "na", "n/a", "NULL", "null"};
  return std::find(kMarks.begin(), kMarks.end(), text) != kMarks.end();
}

}  // namespace ration::data
