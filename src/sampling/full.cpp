#include "ration/sampling/full.h"

#include <numeric>

#include "base/check.h"

namespace ration {

FullSampler::FullSampler(const TableSize& table, Relation relation) : table_(table), relation_(relation) {
  table.require_sound("Full");
  if (relation == Relation::replace_one) {
    const auto rows = static_cast<double>(table.rows);
    require("Full under replace_one", "declared_rows", table.declared_rows, at_least(rows).at_most(rows));
  }
}

void FullSampler::draw(RandomSource&, Batch& batch) const {
  batch.divisor = divisor();
  if (batch.rows.size() == table_.rows && (table_.rows == 0 || batch.rows.back() + 1 == table_.rows)) return;
  batch.rows.resize(table_.rows);
  std::iota(batch.rows.begin(), batch.rows.end(), std::uint64_t{0});
}

std::optional<std::uint64_t> FullSampler::public_size() const {
  if (relation_ == Relation::add_remove) return std::nullopt;
  return table_.rows;
}

}  // namespace ration
