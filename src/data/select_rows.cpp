#include "data/select_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "ration/base/error.h"

namespace ration::data {
namespace {

struct PlaceOfRow {
  const Rows* table;
  std::size_t row;
};

PlaceOfRow find(std::span<const Rows> tables, std::size_t row) {
  std::size_t left = row;
  for (const Rows& table : tables) {
    if (left < table.count()) return {&table, left};
    left -= table.count();
  }
  throw InputError(fmt::format("select_rows: expected row < {}, got {}", row - left, row));
}

void require_same_width(std::span<const Rows> tables) {
  if (tables.empty()) throw InputError("select_rows: expected a table, got none");
  for (const Rows& table : tables) {
    if (table.columns() == tables.front().columns()) continue;
    throw InputError(fmt::format("select_rows: expected {} columns in every table, got {}",
                                 tables.front().columns(), table.columns()));
  }
}

void append(SparseMatrix& matrix, const PlaceOfRow& place) {
  if (place.table->is_dense()) {
    const auto values = place.table->dense_row(place.row);
    for (std::size_t column = 0; column < values.size(); ++column) {
      if (values[column] == 0) continue;
      matrix.indices.push_back(static_cast<std::int32_t>(column));
      matrix.values.push_back(values[column]);
    }
  } else {
    const auto row = place.table->sparse_row(place.row);
    matrix.indices.insert(matrix.indices.end(), row.indices.begin(), row.indices.end());
    matrix.values.insert(matrix.values.end(), row.values.begin(), row.values.end());
  }
  matrix.starts.push_back(matrix.values.size());
}

}  // namespace

Rows select_rows(std::span<const Rows> tables, std::span<const std::size_t> which) {
  require_same_width(tables);
  const std::size_t columns = tables.front().columns();
  const bool dense = std::all_of(tables.begin(), tables.end(), [](const Rows& t) { return t.is_dense(); });
  std::vector<double> labels;
  labels.reserve(which.size());
  std::vector<double> values;
  if (dense) values.reserve(which.size() * columns);
  SparseMatrix matrix{.columns = columns, .indices = {}, .values = {}};
  for (const std::size_t row : which) {
    const PlaceOfRow place = find(tables, row);
    labels.push_back(place.table->labels()[place.row]);
    if (dense) {
      const auto from = place.table->dense_row(place.row);
      values.insert(values.end(), from.begin(), from.end());
    } else {
      append(matrix, place);
    }
  }
  return dense ? Rows::dense(columns, std::move(values), std::move(labels))
               : Rows::sparse(std::move(matrix), std::move(labels));
}

}  // namespace ration::data
