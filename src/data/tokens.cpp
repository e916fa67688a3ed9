#include "data/tokens.h"

#include <string>

namespace ration::data {
namespace {

bool is_letter(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= 0x80 || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

char small(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

std::vector<std::uint32_t> word_ids(std::string_view text, std::size_t vocabulary) {
  std::vector<std::uint32_t> ids;
  std::string word;
  const auto end_word = [&] {
    if (!word.empty()) ids.push_back(static_cast<std::uint32_t>(1 + fnv1a(word) % (vocabulary - 1)));
    word.clear();
  };
  for (const char c : text) {
    if (is_letter(c)) {
      word += small(c);
    } else {
      end_word();
    }
  }
  end_word();
  return ids;
}

std::vector<std::uint32_t> byte_ids(std::string_view text) {
  std::vector<std::uint32_t> ids;
  for (const char c : text) ids.push_back(1u + static_cast<unsigned char>(c));
  return ids;
}

}  // namespace

std::vector<std::uint32_t> token_ids(std::string_view text, const TextShape& shape) {
  return shape.tokens == Tokens::words ? word_ids(text, shape.vocabulary) : byte_ids(text);
}

}  // namespace ration::data
