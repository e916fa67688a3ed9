#pragma once

#include <cstdint>
#include <span>

#include "ration/base/random.h"

namespace ration::fuzz {

// NOT PRIVATE. The same bits in every run, by splitmix64.
class SeededRandom final : public RandomSource {
 public:
  explicit SeededRandom(std::uint64_t seed) : state_(seed) {}
  bool is_secure() const override { return false; }

 private:
  void generate(std::span<std::uint64_t> words) override {
    for (std::uint64_t& word : words) {
      std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
      z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
      z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
      word = z ^ (z >> 31);
    }
  }

  std::uint64_t state_;
};

}  // namespace ration::fuzz
