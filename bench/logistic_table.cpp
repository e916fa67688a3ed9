#include "logistic_table.h"

#include <map>
#include <random>
#include <utility>

namespace ration::bench {

SparseMatrix random_matrix(std::size_t per_row) {
  std::mt19937_64 random(1);
  SparseMatrix matrix{.columns = kColumns, .starts = {0}, .indices = {}, .values = {}};
  for (std::size_t row = 0; row < kRows; ++row) {
    std::size_t needed = per_row;
    for (std::size_t column = 0; column < kColumns; ++column) {
      if (random() % (kColumns - column) >= needed) continue;
      --needed;
      matrix.indices.push_back(static_cast<std::int32_t>(column));
      matrix.values.push_back(static_cast<double>(random() % 1000) / 1000);
    }
    matrix.starts.push_back(matrix.values.size());
  }
  return matrix;
}

std::vector<double> random_labels() {
  std::mt19937_64 random(2);
  std::vector<double> labels(kRows);
  for (double& label : labels) label = static_cast<double>(random() % 2);
  return labels;
}

std::shared_ptr<const Rows> dense_table() {
  static const auto table =
      std::make_shared<const Rows>(Rows::build_public(random_matrix(kColumns), random_labels()));
  return table;
}

std::shared_ptr<const Rows> sparse_table(std::size_t per_row) {
  static std::map<std::size_t, std::shared_ptr<const Rows>> tables;
  auto& table = tables[per_row];
  if (!table) table = std::make_shared<const Rows>(Rows::sparse(random_matrix(per_row), random_labels()));
  return table;
}

}  // namespace ration::bench
