#pragma once

#include <cmath>
#include <cstddef>
#include <memory>
#include <random>
#include <vector>

#include "objectives/tables.h"
#include "ration/objectives/row_view.h"

// Random maps for rows to be seen through, and what is seen, computed another way.
namespace ration::testing {

// Looks at every column but each third one, and at the last; numbers of this size.
inline std::shared_ptr<const RowView> random_view(std::size_t columns, std::size_t coordinates, double size,
                                                  std::mt19937_64& random) {
  std::vector<std::size_t> used;
  for (std::size_t column = 0; column < columns; ++column) {
    if (column % 3 != 1 || column + 1 == columns) used.push_back(column);
  }
  std::vector<double> matrix(used.size() * coordinates);
  for (double& value : matrix) value = size * std::normal_distribution<double>()(random);
  return std::make_shared<const RowView>(columns, used, coordinates, matrix);
}

// M x in more digits, for a row that may hold anything; an unused column counts nothing.
inline std::vector<long double> seen_in_long_double(const Rows& rows, std::size_t row, const RowView& view) {
  std::vector<long double> seen(view.coordinates(), 0.0L);
  rows.for_each_entry(row, [&](std::size_t column, double value) {
    if (view.place(column) == RowView::kUnused) return;
    const auto image = view.column_at(view.place(column));
    for (std::size_t k = 0; k < seen.size(); ++k)
      seen[k] += static_cast<long double>(image[k]) * static_cast<long double>(value);
  });
  return seen;
}

inline long double length_of(const std::vector<long double>& values) {
  long double squares = 0;
  for (const long double value : values) squares += value * value;
  return std::sqrt(squares);
}

// The table of what is seen.
inline std::shared_ptr<const Rows> seen_table(const Rows& rows, const RowView& view) {
  std::vector<double> values;
  for (std::size_t row = 0; row < rows.count(); ++row) {
    for (const long double value : seen_in_long_double(rows, row, view))
      values.push_back(static_cast<double>(value));
  }
  return store(Storage::dense, view.coordinates(), std::move(values),
               {rows.labels().begin(), rows.labels().end()});
}

}  // namespace ration::testing
