#include "data/content_hash.h"

#include <fmt/format.h>
#include <openssl/evp.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <string_view>

#include "data/complaint.h"
#include "data/open_file.h"
#include "ration/base/error.h"

namespace ration::data {
namespace {

class Sha256 {
 public:
  Sha256() : context_(EVP_MD_CTX_new(), EVP_MD_CTX_free) {
    if (context_ == nullptr || EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) != 1) fail();
  }
  void add(const void* bytes, std::size_t length) {
    if (EVP_DigestUpdate(context_.get(), bytes, length) != 1) fail();
  }
  std::string hexadecimal() {
    std::array<unsigned char, 32> digest{};
    if (EVP_DigestFinal_ex(context_.get(), digest.data(), nullptr) != 1) fail();
    std::string out;
    for (const unsigned char byte : digest) out += fmt::format("{:02x}", byte);
    return out;
  }

 private:
  [[noreturn]] static void fail() { throw InternalError("SHA-256 is not available"); }

  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context_;
};

struct Descriptor {
  explicit Descriptor(const std::string& path) : number(open_to_read(path)) {}
  ~Descriptor() { ::close(number); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int number;
};

}  // namespace

std::string content_hash(const std::string& path) {
  const Descriptor file(path);
  Sha256 hash;
  std::vector<char> block(1u << 18);
  for (;;) {
    const ssize_t got = ::read(file.number, block.data(), block.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) refuse(path, fmt::format("cannot read: {}", std::strerror(errno)));
    if (got == 0) return hash.hexadecimal();
    hash.add(block.data(), static_cast<std::size_t>(got));
  }
}

std::vector<std::string> content_hashes(const std::vector<std::string>& paths) {
  std::vector<std::string> hashes;
  for (const std::string& path : paths) hashes.push_back(content_hash(path));
  if (hashes.size() == 1) return hashes;
  Sha256 all;
  for (const std::string& one : hashes) all.add(one.data(), one.size());
  hashes.insert(hashes.begin(), all.hexadecimal());
  return hashes;
}

std::string content_hash(const std::vector<std::string>& paths) {
  return content_hashes(paths).front();
}

}  // namespace ration::data
