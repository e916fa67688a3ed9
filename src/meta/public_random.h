#pragma once

#include <cstdint>
#include <random>

#include "ration/base/random.h"

namespace ration::meta {

// NOT PRIVATE, for meta-training only: the rows there are public and what is learned should come out the same
// again.
class PublicRandom final : public RandomSource {
 public:
  explicit PublicRandom(std::uint64_t seed) : engine_(seed) {}
  bool is_secure() const override { return false; }

 private:
  void generate(std::span<std::uint64_t> words) override {
    for (std::uint64_t& word : words) word = engine_();
  }

  std::mt19937_64 engine_;
};

}  // namespace ration::meta
