#include "base/secret_key.h"

#include <fmt/format.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "base/entropy.h"
#include "ration/base/error.h"

namespace ration {
namespace {

using Bytes = std::array<std::byte, 32>;

Bytes hmac_sha256(const Bytes& key, std::string_view text) {
  Bytes out{};
  unsigned int size = 0;
  const unsigned char* const done = HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
                                         reinterpret_cast<const unsigned char*>(text.data()), text.size(),
                                         reinterpret_cast<unsigned char*>(out.data()), &size);
  if (done == nullptr || size != out.size())
    throw InternalError("HMAC-SHA256: the cryptographic library failed");
  return out;
}

std::string in_hexadecimal(const Bytes& bytes) {
  std::string text;
  for (const std::byte byte : bytes) text += fmt::format("{:02x}", std::to_integer<unsigned>(byte));
  return text;
}

std::optional<unsigned> digit_value(char digit) {
  if (digit >= '0' && digit <= '9') return static_cast<unsigned>(digit - '0');
  if (digit >= 'a' && digit <= 'f') return static_cast<unsigned>(digit - 'a') + 10;
  return std::nullopt;
}

}  // namespace

SecretKey SecretKey::fresh() {
  SecretKey key;
  if (!system_entropy(key.bytes_))
    throw InternalError("the operating system gives no random bytes for a key");
  return key;
}

std::optional<SecretKey> SecretKey::from_hexadecimal(std::string_view digits) {
  SecretKey key;
  if (digits.size() != 2 * key.bytes_.size()) return std::nullopt;
  for (std::size_t i = 0; i < key.bytes_.size(); ++i) {
    const auto high = digit_value(digits[2 * i]);
    const auto low = digit_value(digits[2 * i + 1]);
    if (!high || !low) return std::nullopt;
    key.bytes_[i] = static_cast<std::byte>(*high * 16 + *low);
  }
  return key;
}

std::string SecretKey::hexadecimal() const {
  return in_hexadecimal(bytes_);
}

std::string SecretKey::mark(std::string_view purpose, std::string_view text) const {
  return in_hexadecimal(hmac_sha256(hmac_sha256(bytes_, purpose), text));
}

bool same_mark(std::string_view one, std::string_view other) {
  return one.size() == other.size() && CRYPTO_memcmp(one.data(), other.data(), one.size()) == 0;
}

}  // namespace ration
