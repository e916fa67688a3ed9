#include "ration/base/names.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "base/quote.h"
#include "ration/base/error.h"

namespace ration {
namespace {

// How many letters have to be added, removed, changed or swapped with their neighbour.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> edits(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        edits[i][j] = i + j;
        continue;
      }
      const std::size_t changed = edits[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      edits[i][j] = std::min({changed, edits[i - 1][j] + 1, edits[i][j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        edits[i][j] = std::min(edits[i][j], edits[i - 2][j - 2] + 1);
    }
  }
  return edits.back().back();
}

}  // namespace

std::string did_you_mean(std::string_view text, std::span<const std::string_view> names) {
  constexpr std::size_t kLongestName =
      64;  // what is longer is no misspelt name, and would take long to compare
  if (text.size() > kLongestName) return "";
  std::string_view closest;
  std::size_t least = std::max<std::size_t>(1, text.size() / 3) + 1;  // a third of the letters may be wrong
  for (const std::string_view name : names) {
    const std::size_t distance = edit_distance(text, name);
    if (distance < least && distance < name.size()) closest = name, least = distance;
  }
  return closest.empty() ? "" : fmt::format("; did you mean '{}'?", closest);
}

void refuse_name(std::string_view where, std::span<const std::string_view> names, std::string_view text,
                 std::string_view or_else) {
  throw InputError(fmt::format("{}: expected one of {}{}, got {}{}", where, fmt::join(names, ", "), or_else,
                               in_quotes(text), did_you_mean(text, names)));
}

}  // namespace ration
