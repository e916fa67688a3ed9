#include "base/signature.h"

#include <fmt/format.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include "base/atomic_file.h"
#include "ration/base/error.h"

namespace ration {
namespace {

constexpr std::size_t kSignatureBytes = 64;

// OpenSSL would ask at the terminal.
int no_passphrase(char*, int, int, void*) {
  return -1;
}

using Key = std::shared_ptr<EVP_PKEY>;

template <class Reader>
Key read_key(const std::string& path, Reader reader, const char* expected) {
  const std::string pem = read_file(path);
  const std::unique_ptr<BIO, decltype(&BIO_free)> in(
      BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())), BIO_free);
  if (in == nullptr) throw InternalError("Ed25519: the cryptographic library failed");
  Key key(reader(in.get(), nullptr, no_passphrase, nullptr), EVP_PKEY_free);
  if (key != nullptr && EVP_PKEY_id(key.get()) == EVP_PKEY_ED25519) return key;
  throw InputError(fmt::format("{}: expected {}", path, expected));
}

class DigestContext {
 public:
  DigestContext() : context_(EVP_MD_CTX_new(), EVP_MD_CTX_free) { require(context_ != nullptr); }
  EVP_MD_CTX* get() const { return context_.get(); }

  static void require(bool done) {
    if (!done) throw InternalError("Ed25519: the cryptographic library failed");
  }

 private:
  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context_;
};

const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

}  // namespace

SigningKey SigningKey::read(const std::string& path) {
  return SigningKey(read_key(path, PEM_read_bio_PrivateKey,
                             "an Ed25519 private key in PEM without a passphrase, as 'openssl genpkey "
                             "-algorithm ed25519' makes it"));
}

std::string SigningKey::sign(std::string_view bytes) const {
  const DigestContext context;
  DigestContext::require(EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr, key_.get()) == 1);
  std::string signature(kSignatureBytes, '\0');
  std::size_t size = signature.size();
  DigestContext::require(EVP_DigestSign(context.get(), reinterpret_cast<unsigned char*>(signature.data()),
                                        &size, bytes_of(bytes), bytes.size()) == 1);
  signature.resize(size);
  return signature;
}

VerifyingKey VerifyingKey::read(const std::string& path) {
  return VerifyingKey(read_key(path, PEM_read_bio_PUBKEY,
                               "an Ed25519 public key in PEM, as 'openssl pkey -in KEY -pubout' makes it"));
}

bool VerifyingKey::has_signed(std::string_view bytes, std::string_view signature) const {
  const DigestContext context;
  DigestContext::require(EVP_DigestVerifyInit(context.get(), nullptr, nullptr, nullptr, key_.get()) == 1);
  return EVP_DigestVerify(context.get(), bytes_of(signature), signature.size(), bytes_of(bytes),
                          bytes.size()) == 1;
}

}  // namespace ration
