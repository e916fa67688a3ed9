#pragma once

#include <cstddef>
#include <span>

#include "ration/base/random.h"

namespace ration {

// Of 16 bytes; after so many SecureRandom takes a new key.
inline constexpr std::size_t kBlocksPerKey = std::size_t{1} << 18;

// Fills the span with the operating system's random bytes, or returns false.
bool system_entropy(std::span<std::byte> bytes);

// For tests only: a SecureRandom keyed by another function, to see what happens when the system's fails.
struct EntropyInjection {
  using Function = SecureRandom::EntropyFunction;
  static SecureRandom secure_random(Function entropy) { return SecureRandom(entropy); }
};

}  // namespace ration
