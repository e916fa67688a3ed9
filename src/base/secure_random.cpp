#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "base/entropy.h"
#include "ration/base/error.h"
#include "ration/base/random.h"

namespace ration {
namespace {

constexpr std::size_t kKeyBytes = 32;
constexpr std::size_t kCounterBytes = 16;
// Stays in the first cache; one call of the cipher costs little beside it.
constexpr std::size_t kZeroBytes = 8192;
constexpr std::array<unsigned char, kZeroBytes> kZeros{};

struct ContextDeleter {
  void operator()(EVP_CIPHER_CTX* context) const { EVP_CIPHER_CTX_free(context); }  // erases the key
};

}  // namespace

// getentropy() is the C library's loop around getrandom(2): it waits until the system's pool is seeded, and
// never returns fewer bytes.
bool system_entropy(std::span<std::byte> bytes) {
  return getentropy(bytes.data(), bytes.size()) == 0;
}

// The key stream is the encryption of zeros. Every key is used with one counter that starts at zero and never
// wraps.
struct SecureRandom::Cipher {
  std::unique_ptr<EVP_CIPHER_CTX, ContextDeleter> context{EVP_CIPHER_CTX_new()};

  bool set_key(const unsigned char* key) {
    const std::array<unsigned char, kCounterBytes> counter{};
    return context != nullptr &&
           EVP_EncryptInit_ex(context.get(), EVP_aes_256_ctr(), nullptr, key, counter.data()) == 1;
  }

  bool write(unsigned char* out, std::size_t size) {
    int written = 0;
    return EVP_EncryptUpdate(context.get(), out, &written, kZeros.data(), static_cast<int>(size)) == 1 &&
           written == static_cast<int>(size);
  }
};

SecureRandom::SecureRandom() : SecureRandom(&system_entropy) {}

SecureRandom::SecureRandom(EntropyFunction entropy) : entropy_(entropy) {
  after_fork();
}

SecureRandom::~SecureRandom() = default;

SecureRandom& SecureRandom::for_this_thread() {
  thread_local SecureRandom source;
  return source;
}

void SecureRandom::after_fork() {
  std::array<unsigned char, kKeyBytes> key{};
  if (!entropy_(std::as_writable_bytes(std::span(key)))) {
    throw InternalError("SecureRandom: the operating system's random source failed");
  }
  auto cipher = std::make_unique<Cipher>();
  const bool keyed = cipher->set_key(key.data());
  OPENSSL_cleanse(key.data(), key.size());
  if (!keyed) throw InternalError("SecureRandom: AES-256-CTR is not available");
  cipher_ = std::move(cipher);
}

void SecureRandom::generate(std::span<std::uint64_t> words) {
  auto* out = reinterpret_cast<unsigned char*>(words.data());
  for (std::size_t left = words.size_bytes(); left > 0;) {
    const std::size_t size = std::min(left, kZeroBytes);
    if (!cipher_->write(out, size)) throw InternalError("SecureRandom: AES-256-CTR failed");
    out += size;
    left -= size;
  }
}

}  // namespace ration
