#pragma once

#include <array>
#include <cstddef>

#include "ration/base/random.h"

namespace ration {

// In a row of independent trials that succeed with probability `rate`: how many fail before each success, one
// gap after the other. floor(-log(u) / -log(1 - rate)) is geometric for uniform u.
//
// Gaps are doubles, since they exceed any integer type for the smallest rates; whole numbers, perhaps
// infinite. `expected_count` is how many will probably be asked for; it only decides how many are prepared at
// once.
// Edge cases  rate = 1 gives gaps of 0; rate > 0.
class GeometricGaps {
 public:
  GeometricGaps(RandomSource& random, double rate, double expected_count);
  ~GeometricGaps();
  GeometricGaps(const GeometricGaps&) = delete;
  GeometricGaps& operator=(const GeometricGaps&) = delete;

  double next() {
    if (next_ == prepared_) prepare();
    return gaps_[next_++];
  }

 private:
  static constexpr std::size_t kBlock = 256;
  void prepare();

  RandomSource& random_;
  double scale_;  // 1 / -log(1 - rate)
  std::size_t prepared_;
  std::size_t next_;
  std::array<std::uint64_t, kBlock> words_;
  std::array<double, kBlock> gaps_;
};

}  // namespace ration
