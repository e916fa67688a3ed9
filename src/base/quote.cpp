#include "base/quote.h"

#include <fmt/format.h>

#include "base/utf8.h"

namespace ration {
namespace {

constexpr std::size_t kLongestQuoted = 40;
constexpr std::size_t kLongestLine = 200;

// As much of the text as is shown, without cutting a character in two.
std::string_view shown_part(std::string_view text, std::size_t longest) {
  if (text.size() <= longest) return text;
  std::size_t length = longest;
  while (length > longest - 4 && (static_cast<unsigned char>(text[length]) & 0xC0) == 0x80) --length;
  return text.substr(0, length);
}

}  // namespace

std::string one_line(std::string_view text) {
  const bool valid = is_utf8(text);
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool printable = byte >= 0x20 && byte != 0x7F && (byte < 0x80 || valid);
    if (printable) {
      out += c;
    } else {
      out += fmt::format("\\x{:02X}", byte);
    }
  }
  return out;
}

std::string in_quotes(std::string_view value) {
  const std::string_view part = shown_part(value, kLongestQuoted);
  if (part.size() == value.size()) return fmt::format("'{}'", one_line(value));
  return fmt::format("'{}...' ({} bytes)", one_line(part), value.size());
}

std::string one_short_line(std::string_view text) {
  const std::string_view part = shown_part(text, kLongestLine);
  return one_line(part) + (part.size() < text.size() ? "..." : "");
}

}  // namespace ration
