#pragma once

#include <memory>
#include <string>
#include <string_view>

struct evp_pkey_st;

namespace ration {

// Ed25519 signatures [RFC 8032] by OpenSSL: 64 bytes, which `openssl pkeyutl -verify -rawin` checks too.

// A private key, to sign with.
class SigningKey {
 public:
  // A PEM file as `openssl genpkey -algorithm ed25519` makes it, without a passphrase; InputError otherwise.
  static SigningKey read(const std::string& path);

  std::string sign(std::string_view bytes) const;

 private:
  explicit SigningKey(std::shared_ptr<evp_pkey_st> key) : key_(std::move(key)) {}
  std::shared_ptr<evp_pkey_st> key_;
};

// A public key, to check signatures with.
class VerifyingKey {
 public:
  // A PEM file as `openssl pkey -pubout` makes it; InputError otherwise.
  static VerifyingKey read(const std::string& path);

  bool has_signed(std::string_view bytes, std::string_view signature) const;

 private:
  explicit VerifyingKey(std::shared_ptr<evp_pkey_st> key) : key_(std::move(key)) {}
  std::shared_ptr<evp_pkey_st> key_;
};

}  // namespace ration
