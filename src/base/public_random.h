#pragma once

#include <cstdint>
#include <limits>
#include <random>

#include "ration/base/random.h"

namespace ration {

// NOT PRIVATE: anybody can predict it. For what is made of public numbers alone and should come out the same
// again: public tasks of meta-training, made-up tables, and guesses from answers that are private already.
// Whoever may include this is listed in tests/layering; no noise on private rows and no sample of them is
// drawn from it. Also a generator for the distributions of <random>.
class PublicRandom final : public RandomSource {
 public:
  using result_type = std::uint64_t;
  static constexpr result_type min() { return 0; }
  static constexpr result_type max() { return std::numeric_limits<result_type>::max(); }

  explicit PublicRandom(std::uint64_t seed) : engine_(seed) {}
  bool is_secure() const override { return false; }
  result_type operator()() { return engine_(); }

 private:
  void generate(std::span<std::uint64_t> words) override {
    for (std::uint64_t& word : words) word = engine_();
  }

  std::mt19937_64 engine_;
};

}  // namespace ration
