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
  const bool keeps_zeros = !place.table->is_dense();
  place.table->for_each_entry(place.row, [&](std::size_t column, double value) {
    if (keeps_zeros || value != 0) matrix.add(column, value);
  });
  matrix.end_row();
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
