#include "ration/data/rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/check.h"
#include "ration/base/error.h"

namespace ration {
namespace {

constexpr double kSmallestNormal = std::numeric_limits<double>::min();

double sum_of_squares(std::span<const double> values, double unit) {
  double sum = 0;
  for (const double value : values) sum += (value / unit) * (value / unit);
  return sum;
}

double largest_magnitude(std::span<const double> values) {
  double largest = 0;
  for (const double value : values) {
    if (!(std::abs(value) <= largest)) largest = std::abs(value);  // also when value is NaN
    if (std::isnan(largest)) return largest;
  }
  return largest;
}

// Squares are summed as they are if that is safe, and in units of the largest value otherwise.
double l2_norm(std::span<const double> values) {
  constexpr double kSafeFrom = 0x1p-900;
  constexpr double kSafeTo = 0x1p900;
  const double squares = sum_of_squares(values, 1);
  if (squares > kSafeFrom && squares < kSafeTo) return std::sqrt(squares);
  const double largest = largest_magnitude(values);
  if (largest == 0 || !std::isfinite(largest)) return largest;
  const double norm = largest * std::sqrt(sum_of_squares(values, largest));
  return norm < kSmallestNormal ? 0 : norm;
}

void require_count(const char* what, std::size_t count, std::size_t expected) {
  if (count == expected) return;
  throw InputError(fmt::format("Rows: expected {} {}, got {}", expected, what, count));
}

void require_increasing(std::span<const std::int32_t> indices, std::size_t columns, std::size_t row) {
  std::int64_t previous = -1;
  for (const std::int32_t index : indices) {
    if (index <= previous || static_cast<std::size_t>(index) >= columns) {
      throw InputError(
          fmt::format("Rows: row {}: expected increasing column indices below {}, got {} after {}", row,
                      columns, index, previous));
    }
    previous = index;
  }
}

void require_sound(const SparseMatrix& matrix, std::size_t labels) {
  require("Rows", "columns", static_cast<double>(matrix.columns),
          at_least(0).at_most(std::numeric_limits<std::int32_t>::max()));
  require_count("row starts", matrix.starts.size(), labels + 1);
  require_count("entries before the first row", matrix.starts.front(), 0);
  require_count("column indices", matrix.indices.size(), matrix.starts.back());
  require_count("values", matrix.values.size(), matrix.starts.back());
  if (!std::is_sorted(matrix.starts.begin(), matrix.starts.end())) {
    throw InputError("Rows: expected row starts that do not decrease");
  }
  for (std::size_t row = 0; row < labels; ++row) {
    const std::size_t first = matrix.starts[row];
    require_increasing(std::span(matrix.indices).subspan(first, matrix.starts[row + 1] - first),
                       matrix.columns, row);
  }
}

// Also checks that there is such a number.
std::size_t cells(std::size_t rows, std::size_t columns) {
  std::size_t product = 0;
  if (__builtin_mul_overflow(rows, columns, &product)) {
    throw InputError(fmt::format("Rows: {} rows of {} columns are too many", rows, columns));
  }
  return product;
}

std::vector<double> spread_out(const SparseMatrix& matrix) {
  std::vector<double> values(cells(matrix.rows(), matrix.columns), 0.0);
  for (std::size_t row = 0; row < matrix.rows(); ++row) {
    for (std::size_t entry = matrix.starts[row]; entry < matrix.starts[row + 1]; ++entry) {
      values[row * matrix.columns + static_cast<std::size_t>(matrix.indices[entry])] = matrix.values[entry];
    }
  }
  return values;
}

}  // namespace

Rows::Rows(std::size_t columns, bool is_dense, SparseMatrix matrix, std::vector<double> labels)
    : columns_(columns),
      is_dense_(is_dense),
      starts_(std::move(matrix.starts)),
      indices_(std::move(matrix.indices)),
      values_(std::move(matrix.values)),
      labels_(std::move(labels)),
      norms_(labels_.size()) {
  for (std::size_t row = 0; row < count(); ++row) measure_row(row);
}

Rows Rows::dense(std::size_t columns, std::vector<double> values, std::vector<double> labels) {
  require_count("values", values.size(), cells(labels.size(), columns));
  return Rows(columns, true, {.columns = columns, .starts = {}, .indices = {}, .values = std::move(values)},
              std::move(labels));
}

Rows Rows::sparse(SparseMatrix matrix, std::vector<double> labels) {
  require_sound(matrix, labels.size());
  const std::size_t columns = matrix.columns;
  return Rows(columns, false, std::move(matrix), std::move(labels));
}

Rows Rows::build(SparseMatrix matrix, std::vector<double> labels) {
  if (matrix.columns > kNarrow) return sparse(std::move(matrix), std::move(labels));
  require_sound(matrix, labels.size());
  return dense(matrix.columns, spread_out(matrix), std::move(labels));
}

Rows Rows::build_public(SparseMatrix matrix, std::vector<double> labels) {
  require_sound(matrix, labels.size());
  const double dense_entries =
      kDenseFrom * static_cast<double>(matrix.rows()) * static_cast<double>(matrix.columns);
  if (static_cast<double>(matrix.values.size()) < dense_entries)
    return sparse(std::move(matrix), std::move(labels));
  return dense(matrix.columns, spread_out(matrix), std::move(labels));
}

std::span<double> Rows::stored_values(std::size_t row) {
  const std::size_t first = is_dense_ ? row * columns_ : starts_[row];
  const std::size_t length = is_dense_ ? columns_ : starts_[row + 1] - first;
  return std::span(values_).subspan(first, length);
}

void Rows::measure_row(std::size_t row) {
  norms_[row] = l2_norm(stored_values(row));
}

// The loop ends: each pass takes at least a unit in the last place off the largest value.
void Rows::shorten_row(std::size_t row, double bound) {
  const std::span<double> values = stored_values(row);
  if (!std::isfinite(norms_[row])) std::fill(values.begin(), values.end(), 0.0);
  constexpr double kDownward = 1 - std::numeric_limits<double>::epsilon();
  for (measure_row(row); norms_[row] > bound; measure_row(row)) {
    const double factor = bound / norms_[row] * kDownward;
    for (double& value : values) value *= factor;
  }
}

Rows Rows::with_labels(std::vector<double> labels) && {
  if (labels.size() != count()) {
    throw InputError(fmt::format("Rows: expected {} labels, got {}", count(), labels.size()));
  }
  labels_ = std::move(labels);
  return std::move(*this);
}

Rows Rows::less(std::span<const double> offset) && {
  require_count("offsets", offset.size(), columns_);
  if (!is_dense_) {
    SparseMatrix matrix{.columns = columns_,
                        .starts = std::move(starts_),
                        .indices = std::move(indices_),
                        .values = std::move(values_)};
    return dense(columns_, spread_out(matrix), std::move(labels_)).less(offset);
  }
  for (std::size_t row = 0; row < count(); ++row) {
    const std::span<double> values = stored_values(row);
    for (std::size_t j = 0; j < columns_; ++j) values[j] -= offset[j];
    measure_row(row);
  }
  norm_bound_ = std::numeric_limits<double>::infinity();
  return std::move(*this);
}

Rows Rows::with_row_norms_at_most(double bound) const& {
  return Rows(*this).with_row_norms_at_most(bound);
}

Rows Rows::with_row_norms_at_most(double bound) && {
  require("Rows", "row norm bound", bound, greater_than(0));
  for (std::size_t row = 0; row < count(); ++row) shorten_row(row, bound);
  norm_bound_ = std::min(norm_bound_, bound);
  return std::move(*this);
}

}  // namespace ration
