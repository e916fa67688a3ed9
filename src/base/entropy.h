#pragma once

#include <cstddef>
#include <span>

#include "ration/base/random.h"

namespace ration {

// Fills the span with the operating system's random bytes, or returns false.
bool system_entropy(std::span<std::byte> bytes);

// For tests only: a SecureRandom keyed by another function, to see what happens when the system's fails.
struct EntropyInjection {
  using Function = SecureRandom::EntropyFunction;
  static SecureRandom secure_random(Function entropy) { return SecureRandom(entropy); }
};

}  // namespace ration
