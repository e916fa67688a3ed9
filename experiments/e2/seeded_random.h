#pragma once

#include <cstdint>
#include <random>
#include <span>

#include "ration/base/random.h"

namespace ration::e2 {

// NOT PRIVATE. The same bits for the same seed, so that two schedules can be compared on the same noise, scaled
// differently. For experiments on public data only; a certificate would say that it is not private.
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

}  // namespace ration::e2
