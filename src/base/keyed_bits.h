#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "ration/base/random.h"

struct evp_cipher_ctx_st;

namespace ration {

// Random bits that can be asked for by name, in any order: the key stream of AES-256 under one key, at the
// counter that the name stands for.
//
// Guarantee   streams of different names have no block in common; to whoever does not know the key they
// cannot
//             be told from independent uniform bits.
// Edge cases  InternalError if the cipher fails, or for more than 2^24 parts of a name.
class KeyedBits {
 public:
  // Takes 256 bits for its key.
  explicit KeyedBits(RandomSource& random);
  ~KeyedBits();
  KeyedBits(const KeyedBits&) = delete;
  KeyedBits& operator=(const KeyedBits&) = delete;

  // The first bits, at most 2^44 bytes, of one part of the stream of this name.
  void fill(std::uint64_t name, std::uint32_t part, std::span<std::uint32_t> words);

 private:
  struct Closer {
    void operator()(evp_cipher_ctx_st* context) const;
  };
  std::unique_ptr<evp_cipher_ctx_st, Closer> context_;
};

}  // namespace ration
