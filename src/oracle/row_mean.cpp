#include "oracle/row_mean.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "mechanisms/gaussian.h"
#include "oracle/sum_error.h"
#include "ration/clipping/abadi.h"
#include "ration/clipping/clip_rule.h"
#include "ration/clipping/sensitivity.h"

namespace ration {

void add_row(const Rows& rows, std::size_t row, double factor, std::span<double> sum) {
  rows.for_each_entry(row, [&](std::size_t column, double value) { sum[column] += factor * value; });
}

namespace {

std::vector<double> clipped_sum(const Rows& rows, double bound) {
  std::vector<double> sum(rows.columns(), 0.0);
  for (std::size_t row = 0; row < rows.count(); ++row) {
    const double factor = clip_factor(Abadi{bound}, rows.norms()[row]);
    if (factor > 0) add_row(rows, row, factor, sum);
  }
  return sum;
}

GaussianMechanism mechanism_of(const RowMeanQuery& query, const TableSize& table, Relation relation) {
  table.require_sound("row mean");
  const std::uint64_t most = table.most_rows() + 1;  // a neighbour may have one row more
  const double rounding_room = 2 * query.bound * sum_error(most, most);
  return GaussianMechanism({.sensitivity = gradient_sum_sensitivity(query.bound, relation) + rounding_room,
                            .noise_multiplier = query.noise_multiplier});
}

}  // namespace

double longest_row(std::size_t columns) {
  return std::sqrt(static_cast<double>(std::max<std::size_t>(1, columns)));
}

std::optional<std::vector<double>> noisy_row_mean(const Rows& rows, const RowMeanQuery& query,
                                                  double declared_rows, Relation relation,
                                                  BudgetFilter& filter, RandomSource& random) {
  const GaussianMechanism mechanism =
      mechanism_of(query, {.rows = rows.count(), .declared_rows = declared_rows}, relation);
  if (!filter.spend(mechanism.event())) return std::nullopt;
  std::vector<double> mean = clipped_sum(rows, query.bound);
  mechanism.add_noise(mean, random);
  for (double& value : mean) value /= declared_rows;
  return mean;
}

double row_mean_stddev(const RowMeanQuery& query, const TableSize& table, std::size_t columns,
                       Relation relation) {
  return mechanism_of(query, table, relation).stddev(columns) / table.declared_rows;
}

}  // namespace ration
