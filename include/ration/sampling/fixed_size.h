// For extensions: may change between minor versions.
#pragma once

#include "ration/sampling/sampler.h"

namespace ration {

// A uniformly random set of `size` different rows; relation replace_one, under which the number of rows is
// public. Divides by `size`.
//
// Edge cases  size = rows is the full batch, and its event that of the mechanism alone.
// [Wang19]
class FixedSizeSampler final : public Sampler {
 public:
  FixedSizeSampler(std::uint64_t rows, std::uint64_t size);  // 1 <= size <= rows

  void draw(RandomSource& random, Batch& batch) const override;
  Event sampled(Event base) const override;
  Relation relation() const override { return Relation::replace_one; }
  double divisor() const override { return static_cast<double>(size_); }
  std::optional<std::uint64_t> public_size() const override { return size_; }
  std::uint64_t most_rows() const override { return size_; }

 private:
  std::uint64_t rows_;
  std::uint64_t size_;
};

}  // namespace ration
