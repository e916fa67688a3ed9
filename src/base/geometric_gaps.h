#pragma once

#include <array>
#include <cstddef>

#include "ration/base/random.h"

namespace ration {

// In a row of at most `trials` independent trials that succeed with probability `rate`: how many fail before
// each success, one gap after the other. floor(-log(u) / -log(1 - rate)) is geometric for uniform u.
//
// Guarantee   every gap below `trials` has exactly its probability, given ideal random bits: what double
//             precision cannot decide is decided by more digits (real_draw.h; docs/proofs/sampler.md). The
//             others are only known to be as large as that.
// Gaps are doubles, since they exceed any integer type for the smallest rates; whole numbers, perhaps
// infinite.
// Edge cases  0 < rate < 1.
class GeometricGaps {
 public:
  GeometricGaps(RandomSource& random, double rate, double trials);
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
  void settle();

  RandomSource& random_;
  double rate_;
  double trials_;
  double scale_;  // 1 / -log(1 - rate)
  std::size_t prepared_;
  std::size_t next_;
  std::array<std::uint64_t, kBlock> words_;
  std::array<double, kBlock> gaps_;
};

}  // namespace ration
