#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace ration {

// 256 secret bits under which something can be marked so that only who has the key can make or check the
// mark: HMAC-SHA256.
class SecretKey {
 public:
  // From the operating system's random bytes; InternalError if it gives none.
  static SecretKey fresh();
  // From 64 hexadecimal digits; nothing for any other text.
  static std::optional<SecretKey> from_hexadecimal(std::string_view digits);
  std::string hexadecimal() const;

  // HMAC-SHA256 of `text` in 64 hexadecimal digits. Each purpose has a key of its own, derived from this one,
  // so that a mark made for one says nothing about another.
  std::string mark(std::string_view purpose, std::string_view text) const;

 private:
  SecretKey() = default;

  std::array<std::byte, 32> bytes_{};
};

// Whether two marks are the same, in a time that does not tell where they differ.
bool same_mark(std::string_view one, std::string_view other);

}  // namespace ration
