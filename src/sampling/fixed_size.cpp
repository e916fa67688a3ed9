#include "ration/sampling/fixed_size.h"

#include <utility>

#include "base/check.h"
#include "base/index_sampling.h"

namespace ration {

FixedSizeSampler::FixedSizeSampler(std::uint64_t rows, std::uint64_t size) : rows_(rows), size_(size) {
  require("FixedSize", "rows", static_cast<double>(rows), at_least(1).at_most(0x1p53));
  require("FixedSize", "size", static_cast<double>(size), at_least(1).at_most(static_cast<double>(rows)));
}

void FixedSizeSampler::draw(RandomSource& random, Batch& batch) const {
  batch.divisor = divisor();
  sample_subset(random, rows_, size_, batch.rows);
}

Event FixedSizeSampler::sampled(Event base) const {
  if (size_ == rows_) return base;
  return Event::fixed_size_sampled(static_cast<double>(size_) / static_cast<double>(rows_), std::move(base));
}

}  // namespace ration
