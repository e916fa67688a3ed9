#include "objectives/glm/seen_rows.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/parallel.h"
#include "base/per_processor.h"
#include "base/squared_length.h"

namespace ration {
namespace {

constexpr std::size_t kRowsOfABlock = 1024;
// Of shorter rows, squares of what is seen may be lost below the smallest double.
constexpr double kShortestRow = 0x1p-400;

RATION_INLINE void add_multiple(const double* __restrict column, double factor, std::size_t count,
                                double* __restrict sum) {
  for (std::size_t k = 0; k < count; ++k) sum[k] += factor * column[k];
}

RATION_INLINE void add_products(const double* values, const std::size_t* offsets, const std::size_t* places,
                                std::size_t entries, double* __restrict upper) {
  for (std::size_t a = 0; a < entries; ++a) {
    double* const row = upper + offsets[a];
    for (std::size_t b = a; b < entries; ++b) row[places[b]] += values[a] * values[b];
  }
}

double seen_norm(const Rows& rows, std::size_t row, const RowView& view, std::span<double> seen) {
  const double length = rows.norms()[row];
  if (length < kShortestRow) return 0;
  std::fill(seen.begin(), seen.end(), 0.0);
  rows.for_each_entry(row, [&](std::size_t column, double value) {
    const std::int32_t place = view.place(column);
    if (place == RowView::kUnused || value == 0) return;
    PerProcessor<add_multiple>::call(view.column_at(place).data(), value, seen.size(), seen.data());
  });
  const double unit = std::numeric_limits<double>::epsilon();  // 2 u
  const double slack = static_cast<double>(view.columns() + 2) * unit * view.size() * length;
  const double of_squares = static_cast<double>(seen.size() + 2) * unit;
  const double norm = std::sqrt(squared_length(seen)) * (1 + of_squares) + slack;
  return std::isnan(norm) ? norm : std::max(norm, length / usual_length(view.columns()));
}

}  // namespace

double usual_length(std::size_t columns) {
  return std::sqrt(static_cast<double>(std::max<std::size_t>(1, columns)));
}

std::vector<double> norms_through(const Rows& rows, const RowView& view, std::size_t threads) {
  std::vector<double> norms(rows.count());
  const std::size_t blocks = (rows.count() + kRowsOfABlock - 1) / kRowsOfABlock;
  for_each_block(blocks, threads, [&](std::size_t block) {
    std::vector<double> seen(view.coordinates());
    const std::size_t end = std::min(rows.count(), (block + 1) * kRowsOfABlock);
    for (std::size_t row = block * kRowsOfABlock; row < end; ++row)
      norms[row] = seen_norm(rows, row, view, seen);
  });
  return norms;
}

// Entry (i, j) of the triangle is at i (2 side - i - 1) / 2 + j.
void add_weighted_products(const Rows& rows, const RowView& view, std::span<const std::uint64_t> numbers,
                           std::span<const double> factors, std::span<double> upper) {
  const std::size_t side = view.used().size();
  std::vector<double> values;
  std::vector<std::size_t> offsets, places;
  for (std::size_t r = 0; r < numbers.size(); ++r) {
    if (!(factors[r] > 0)) continue;
    values.clear();
    offsets.clear();
    places.clear();
    rows.for_each_entry(numbers[r], [&](std::size_t column, double value) {
      if (view.place(column) == RowView::kUnused || value == 0) return;
      const auto place = static_cast<std::size_t>(view.place(column));
      values.push_back(factors[r] * value);
      offsets.push_back(place * (2 * side - place - 1) / 2);
      places.push_back(place);
    });
    PerProcessor<add_products>::call(values.data(), offsets.data(), places.data(), values.size(),
                                     upper.data());
  }
}

}  // namespace ration
