#include "base/keyed_bits.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <limits>

#include "ration/base/error.h"

namespace ration {
namespace {

void require_done(bool done) {
  if (!done) throw InternalError("KeyedBits: AES-256-CTR failed");
}

// 64 bits of the name, 24 of the part, and 40 that count blocks.
std::array<unsigned char, 16> counter_for(std::uint64_t name, std::uint32_t part) {
  std::array<unsigned char, 16> counter{};
  for (std::size_t i = 0; i < 8; ++i) counter[i] = static_cast<unsigned char>(name >> (56 - 8 * i));
  for (std::size_t i = 0; i < 3; ++i) counter[8 + i] = static_cast<unsigned char>(part >> (16 - 8 * i));
  return counter;
}

}  // namespace

void KeyedBits::Closer::operator()(evp_cipher_ctx_st* context) const {
  EVP_CIPHER_CTX_free(context);  // erases the key
}

KeyedBits::KeyedBits(RandomSource& random) : context_(EVP_CIPHER_CTX_new()) {
  require_done(context_ != nullptr);
  std::array<std::uint64_t, 4> key{};
  random.fill(key);
  const auto* const bytes = reinterpret_cast<const unsigned char*>(key.data());
  const bool keyed =
      EVP_EncryptInit_ex(context_.get(), EVP_aes_256_ctr(), nullptr, bytes, counter_for(0, 0).data()) == 1;
  OPENSSL_cleanse(key.data(), sizeof(key));
  require_done(keyed);
}

KeyedBits::~KeyedBits() = default;

void KeyedBits::fill(std::uint64_t name, std::uint32_t part, std::span<std::uint32_t> words) {
  constexpr std::size_t kPiece = std::size_t{1} << 30;  // lengths are ints there
  require_done(part < (1U << 24));
  require_done(
      EVP_EncryptInit_ex(context_.get(), nullptr, nullptr, nullptr, counter_for(name, part).data()) == 1);
  auto* out = reinterpret_cast<unsigned char*>(words.data());
  std::fill(words.begin(), words.end(), 0);
  for (std::size_t left = words.size_bytes(); left > 0;) {
    const std::size_t size = std::min(left, kPiece);
    int written = 0;
    require_done(EVP_EncryptUpdate(context_.get(), out, &written, out, static_cast<int>(size)) == 1 &&
                 static_cast<std::size_t>(written) == size);
    out += size;
    left -= size;
  }
}

}  // namespace ration
