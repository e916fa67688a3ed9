#include "ration/sampling/poisson.h"

#include <utility>

#include "base/check.h"
#include "base/index_sampling.h"

namespace ration {

PoissonSampler::PoissonSampler(const TableSize& table, double rate) : table_(table), rate_(rate) {
  table.require_sound("Poisson");
  require("Poisson", "rate", rate, greater_than(0).at_most(1));
  require("Poisson", "rate * declared_rows", divisor(), greater_than(0));
}

void PoissonSampler::draw(RandomSource& random, Batch& batch) const {
  batch.divisor = divisor();
  sample_poisson(random, table_.rows, rate_, batch.rows);
}

Event PoissonSampler::sampled(Event base) const {
  return rate_ == 1 ? base : Event::poisson_sampled(rate_, std::move(base));
}

}  // namespace ration
