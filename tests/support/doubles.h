#pragma once

#include <cstdint>
#include <random>
#include <span>

#include "ration/base/random.h"

// Stand-ins for the secure source. NOT PRIVATE: for tests only.
namespace ration::testing {

// NOT PRIVATE. The same bits in every run.
class SeededRandom final : public RandomSource {
 public:
  explicit SeededRandom(std::uint64_t seed) : engine_(seed) {}
  bool is_secure() const override { return false; }

 private:
  void generate(std::span<std::uint64_t> words) override {
    for (auto& word : words) word = engine_();
  }

  std::mt19937_64 engine_;
};

// NOT PRIVATE. The same word for ever: the extreme values of a sampler, e.g. all bits 0 or all bits 1.
class ConstantRandom final : public RandomSource {
 public:
  explicit ConstantRandom(std::uint64_t word) : word_(word) {}
  bool is_secure() const override { return false; }

 private:
  void generate(std::span<std::uint64_t> words) override {
    for (auto& word : words) word = word_;
  }

  std::uint64_t word_;
};

}  // namespace ration::testing
