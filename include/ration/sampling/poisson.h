// For extensions: may change between minor versions.
#pragma once

#include "ration/sampling/sampler.h"

namespace ration {

// Each row independently with probability `rate`; relation add_remove. Divides by rate * declared_rows.
//
// Cost        O(rows drawn), see base/index_sampling.h.
// Edge cases  rate = 1 is the full batch, and its event that of the mechanism alone.
// [Mironov19, Zhu19]
class PoissonSampler final : public Sampler {
 public:
  PoissonSampler(const TableSize& table, double rate);  // 0 < rate <= 1

  void draw(RandomSource& random, Batch& batch) const override;
  Event sampled(Event base) const override;
  Relation relation() const override { return Relation::add_remove; }
  double divisor() const override { return rate_ * table_.declared_rows; }
  std::optional<std::uint64_t> public_size() const override { return std::nullopt; }
  std::uint64_t most_rows() const override { return table_.most_rows(); }

 private:
  TableSize table_;
  double rate_;
};

}  // namespace ration
