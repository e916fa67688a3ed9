#include "base/hash.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <vector>

#include "ration/base/error.h"

namespace ration {
namespace {

class Sha256 {
 public:
  Sha256() : context_(EVP_MD_CTX_new()) {
    require_success(context_ && EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) == 1);
  }
  void add(std::string_view bytes) {
    require_success(EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()) == 1);
  }
  std::string hexadecimal();

 private:
  static void require_success(bool done) {
    if (!done) throw InternalError("SHA-256: the cryptographic library failed");
  }

  struct Free {
    void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
  };
  std::unique_ptr<EVP_MD_CTX, Free> context_;
};

std::string Sha256::hexadecimal() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  require_success(EVP_DigestFinal_ex(context_.get(), digest.data(), &size) == 1);
  std::string text;
  for (unsigned int i = 0; i < size; ++i) text += fmt::format("{:02x}", digest[i]);
  return text;
}

[[noreturn]] void cannot_read(const std::string& path, std::string_view reason) {
  throw InputError(fmt::format("{}: cannot read: {}", path, reason));
}

}  // namespace

std::string sha256(std::string_view bytes) {
  Sha256 hash;
  hash.add(bytes);
  return hash.hexadecimal();
}

std::string sha256_of_file(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) cannot_read(path, "it is a folder");
  std::ifstream in(path, std::ios::binary);
  if (!in) cannot_read(path, std::strerror(errno));
  Sha256 hash;
  std::vector<char> block(1 << 20);
  while (in) {
    in.read(block.data(), static_cast<std::streamsize>(block.size()));
    hash.add({block.data(), static_cast<std::size_t>(in.gcount())});
  }
  if (!in.eof()) cannot_read(path, std::strerror(errno));
  return hash.hexadecimal();
}

}  // namespace ration
