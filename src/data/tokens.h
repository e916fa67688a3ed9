#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "ration/data/schema.h"

namespace ration::data {

// 64-bit FNV-1a: public, fixed, and the same on every machine.
constexpr std::uint64_t fnv1a(std::string_view bytes) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char byte : bytes) {
    hash ^= static_cast<unsigned char>(byte);
    hash *= 0x100000001b3;
  }
  return hash;
}

// The ids of a text's tokens in their order, each >= 1 and below the vocabulary, by the rules of schema.h.
std::vector<std::uint32_t> token_ids(std::string_view text, const TextShape& shape);

}  // namespace ration::data
