#include "data/complaint.h"

#include <fmt/format.h>

#include "data/utf8.h"
#include "ration/base/error.h"

namespace ration::data {
namespace {

constexpr std::size_t kLongestShown = 40;

// As much of the value as is shown, without cutting a character in two.
std::string_view shown_part(std::string_view value) {
  if (value.size() <= kLongestShown) return value;
  std::size_t length = kLongestShown;
  while (length > kLongestShown - 4 && (static_cast<unsigned char>(value[length]) & 0xC0) == 0x80) --length;
  return value.substr(0, length);
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

std::string quoted(std::string_view value) {
  const std::string_view part = shown_part(value);
  if (part.size() == value.size()) return fmt::format("'{}'", one_line(value));
  return fmt::format("'{}...' ({} bytes)", one_line(part), value.size());
}

void refuse(std::string_view file, std::string_view message) {
  throw InputError(fmt::format("{}: {}", file, message));
}

void refuse(std::string_view file, std::uint64_t line, std::string_view message) {
  throw InputError(fmt::format("{}:{}: {}", file, line, message));
}

void refuse(std::string_view file, std::uint64_t line, std::string_view column, std::string_view message) {
  throw InputError(fmt::format("{}:{}: column {}: {}", file, line, quoted(column), message));
}

}  // namespace ration::data
