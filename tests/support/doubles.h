#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <span>
#include <utility>
#include <vector>

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

// NOT PRIVATE. The listed words, then zeros for ever.
class ScriptedRandom final : public RandomSource {
 public:
  explicit ScriptedRandom(std::vector<std::uint64_t> script) : script_(std::move(script)) {}
  bool is_secure() const override { return false; }

 private:
  void generate(std::span<std::uint64_t> words) override {
    const std::size_t listed = std::min(words.size(), script_.size() - next_);
    std::copy_n(script_.begin() + static_cast<std::ptrdiff_t>(next_), listed, words.begin());
    std::fill(words.begin() + static_cast<std::ptrdiff_t>(listed), words.end(), 0);
    next_ += listed;
  }

  std::vector<std::uint64_t> script_;
  std::size_t next_ = 0;
};

// NOT PRIVATE. Seeded, and counts the words it generated: what a sampler costs, without a clock.
class CountingRandom final : public RandomSource {
 public:
  explicit CountingRandom(std::uint64_t seed) : engine_(seed) {}
  bool is_secure() const override { return false; }
  std::uint64_t words_generated() const { return generated_; }

 private:
  void generate(std::span<std::uint64_t> words) override {
    for (auto& word : words) word = engine_();
    generated_ += words.size();
  }

  std::mt19937_64 engine_;
  std::uint64_t generated_ = 0;
};

}  // namespace ration::testing
