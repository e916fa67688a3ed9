#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ration::data {

// From the text of a category, or of an alias, to its place in the list. Looked up once per cell of every
// file, so it is an open hash table that looks at the ends of a text only; texts that agree there cost a
// comparison each.
class CategoryIndex {
 public:
  CategoryIndex(const std::vector<std::string>& categories,
                const std::map<std::string, std::string>& aliases);

  std::optional<std::int32_t> find(std::string_view text) const;

 private:
  struct Slot {
    std::string text;
    std::int32_t place = kEmpty;
  };
  static constexpr std::int32_t kEmpty = -1;

  std::size_t first_slot(std::string_view text) const;
  void insert(const std::string& text, std::int32_t place);

  std::vector<Slot> slots_;  // a power of two, at most a quarter full
};

}  // namespace ration::data
