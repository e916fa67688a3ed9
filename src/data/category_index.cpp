#include "data/category_index.h"

#include <bit>
#include <cstring>

namespace ration::data {
namespace {

// Up to eight bytes as a number.
std::uint64_t load(const char* from, std::size_t length) {
  std::uint64_t word = 0;
  std::memcpy(&word, from, length);
  return word;
}

std::uint64_t both_ends(std::string_view text) {
  if (text.size() >= 8) return load(text.data(), 8) ^ std::rotl(load(text.data() + text.size() - 8, 8), 29);
  std::uint64_t word = 0;
  for (const char c : text) word = (word << 8) | static_cast<unsigned char>(c);
  return word;
}

}  // namespace

CategoryIndex::CategoryIndex(const std::vector<std::string>& categories,
                             const std::map<std::string, std::string>& aliases)
    : slots_(std::bit_ceil(4 * (categories.size() + aliases.size()) + 1)) {
  for (std::size_t i = 0; i < categories.size(); ++i) insert(categories[i], static_cast<std::int32_t>(i));
  for (const auto& [spelling, category] : aliases) insert(spelling, find(category).value());
}

std::optional<std::int32_t> CategoryIndex::find(std::string_view text) const {
  for (std::size_t at = first_slot(text);; at = (at + 1) & (slots_.size() - 1)) {
    const Slot& slot = slots_[at];
    if (slot.place == kEmpty) return std::nullopt;
    if (slot.text == text) return slot.place;
  }
}

std::size_t CategoryIndex::first_slot(std::string_view text) const {
  constexpr std::uint64_t kOddMultiplier = 0x9E3779B97F4A7C15u;
  const std::uint64_t mixed = (both_ends(text) + text.size()) * kOddMultiplier;
  return static_cast<std::size_t>(mixed >> 32) & (slots_.size() - 1);
}

void CategoryIndex::insert(const std::string& text, std::int32_t place) {
  std::size_t at = first_slot(text);
  while (slots_[at].place != kEmpty) at = (at + 1) & (slots_.size() - 1);
  slots_[at] = {text, place};
}

}  // namespace ration::data
