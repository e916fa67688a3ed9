#include <gcrypt.h>
#include <openssl/crypto.h>
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
static_assert(kBlocksPerKey * 16 % kZeroBytes == 0);

struct CipherCloser {
  void operator()(gcry_cipher_hd_t handle) const { gcry_cipher_close(handle); }  // erases the key
};

// The library wants to be told once that it may begin, unless the program that we are part of has done so.
// Its locked memory is for keys that live for months.
bool is_ready() {
  static const bool ready = [] {
    if (gcry_control(GCRYCTL_INITIALIZATION_FINISHED_P) != 0) return true;
    return gcry_check_version(GCRYPT_VERSION) != nullptr && gcry_control(GCRYCTL_DISABLE_SECMEM, 0) == 0 &&
           gcry_control(GCRYCTL_INITIALIZATION_FINISHED, 0) == 0;
  }();
  return ready;
}

}  // namespace

// getentropy() is the C library's loop around getrandom(2): it waits until the system's pool is seeded, and
// never returns fewer bytes.
bool system_entropy(std::span<std::byte> bytes) {
  return getentropy(bytes.data(), bytes.size()) == 0;
}

// The key stream is the encryption of zeros. Every key is used with one counter that starts at zero and never
// wraps.
struct SecureRandom::Cipher {
  std::unique_ptr<gcry_cipher_handle, CipherCloser> handle;
  std::size_t bytes_left = kBlocksPerKey * 16;

  bool set_key(const unsigned char* key) {
    if (!is_ready()) return false;
    gcry_cipher_hd_t opened = nullptr;
    if (gcry_cipher_open(&opened, GCRY_CIPHER_AES256, GCRY_CIPHER_MODE_CTR, 0) != 0) return false;
    handle.reset(opened);
    const std::array<unsigned char, kCounterBytes> counter{};
    return gcry_cipher_setkey(opened, key, kKeyBytes) == 0 &&
           gcry_cipher_setctr(opened, counter.data(), counter.size()) == 0;
  }

  bool write(unsigned char* out, std::size_t size) {
    bytes_left -= size;
    return gcry_cipher_encrypt(handle.get(), out, size, kZeros.data(), size) == 0;
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

std::unique_ptr<RandomSource> SecureRandom::another_stream() {
  return std::unique_ptr<SecureRandom>(new SecureRandom(entropy_));  // whose constructor is private
}

// Also at the start and when a key has been used enough.
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
    if (cipher_->bytes_left == 0) after_fork();
    const std::size_t size = std::min({left, kZeroBytes, cipher_->bytes_left});
    if (!cipher_->write(out, size)) throw InternalError("SecureRandom: AES-256-CTR failed");
    out += size;
    left -= size;
  }
}

}  // namespace ration
