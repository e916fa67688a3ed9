// For extensions: may change between minor versions.
#pragma once

#include "ration/sampling/sampler.h"

namespace ration {

// Every row, every time; no amplification. Divides by the declared number of rows.
class FullSampler final : public Sampler {
 public:
  // Under replace_one, declared_rows must be the number of rows.
  FullSampler(const TableSize& table, Relation relation);

  void draw(RandomSource& random, Batch& batch) const override;
  Event sampled(Event base) const override { return base; }
  Relation relation() const override { return relation_; }
  double divisor() const override { return table_.declared_rows; }
  std::optional<std::uint64_t> public_size() const override;
  std::uint64_t most_rows() const override { return table_.most_rows(); }

 private:
  TableSize table_;
  Relation relation_;
};

}  // namespace ration
