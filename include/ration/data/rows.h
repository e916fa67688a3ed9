// Stable: changes only with a new major version.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace ration {

// Compressed sparse rows: row i holds entries starts[i], ..., starts[i + 1] - 1, its columns increasing.
struct SparseMatrix {
  std::size_t columns = 0;  // of the whole table, stored or not
  // One more than there are rows; the first is 0, the last the number of entries.
  std::vector<std::size_t> starts{0};
  std::vector<std::int32_t> indices;  // 0 <= index < columns
  std::vector<double> values;         // one per index

  // How many there are, empty ones included.
  std::size_t rows() const { return starts.size() - 1; }

  // Appends to the row that end_row() will end; columns in increasing order.
  void add(std::size_t column, double value) {
    indices.push_back(static_cast<std::int32_t>(column));
    values.push_back(value);
  }
  // What was added since the last call is a row.
  void end_row() { starts.push_back(indices.size()); }
};

// The encoded table: features and labels, frozen. Whatever reads a row afterwards reads the same row, so that
// what is computed from it once, such as its norm, stays true.
//
// Storage     Dense, row after row, or compressed sparse rows. A product with a row is rounded differently
//             in each, so the storage decides what every row contributes, down to which side of a kink it is
//             on: it has to be chosen from public facts, never from what the rows hold, or one row would
//             change the contributions of all. A constant column for the bias is a column like any other and
//             counts in the norm.
// Norms       norm(i) = |x_i| in L2, without overflow or underflow on the way. It is 0 for a row whose norm
//             is below the smallest normal double, and not finite if and only if the row holds a NaN or an
//             infinity, or its norm exceeds the largest double: users of norms treat all these rows as
//             contributing nothing.
// Labels      One per row: a class as 0, 1, 2, ... or a real target; what they may be is the objective's
//             business.
// Edge cases  No rows and no columns are tables too. NaN and infinity are kept, since an error that depends
//             on a row's value is for the reader of the file to raise, with its line.
class Rows {
 public:
  // The stored entries of one row.
  struct SparseRow {
    std::span<const std::int32_t> indices;  // columns, increasing
    std::span<const double> values;         // one per index
  };

  // The share of stored entries from which a row is faster to use as a whole (bench/convex_bench.cpp).
  static constexpr double kDenseFrom = 1.0 / 3;
  // Rows of so few columns are as fast to use as a whole, however many of their entries are 0.
  static constexpr std::size_t kNarrow = 32;

  // `values` row after row: labels.size() * columns of them.
  static Rows dense(std::size_t columns, std::vector<double> values, std::vector<double> labels);
  // Compressed sparse rows, kept as they are; one label per row.
  static Rows sparse(SparseMatrix matrix, std::vector<double> labels);
  // Dense if there are at most kNarrow columns, otherwise sparse: the number of columns is public.
  static Rows build(SparseMatrix matrix, std::vector<double> labels);
  // Dense or sparse, whichever is faster, by the share of entries that are stored. For rows that everybody
  // may know: one of them can change the choice.
  static Rows build_public(SparseMatrix matrix, std::vector<double> labels);

  // The number of rows.
  std::size_t count() const { return labels_.size(); }
  // The number of encoded columns, a bias included.
  std::size_t columns() const { return columns_; }
  // Which of dense_row() and sparse_row() may be asked.
  bool is_dense() const { return is_dense_; }
  // Stored values per row: what a product with a row costs.
  double mean_row_length() const {
    return count() == 0 ? 0 : static_cast<double>(values_.size()) / static_cast<double>(count());
  }
  // One per row: a class, or a number.
  std::span<const double> labels() const { return labels_; }
  // The L2 norm of each row, as the class comment says.
  std::span<const double> norms() const { return norms_; }

  // Only for dense storage.
  std::span<const double> dense_row(std::size_t row) const {
    return std::span(values_).subspan(row * columns_, columns_);
  }
  // Only for sparse storage.
  SparseRow sparse_row(std::size_t row) const {
    const std::size_t first = starts_[row];
    const std::size_t length = starts_[row + 1] - first;
    return {std::span(indices_).subspan(first, length), std::span(values_).subspan(first, length)};
  }

  // Calls use(column, value) for each stored entry of the row, columns increasing.
  template <class Use>
  void for_each_entry(std::size_t row, Use&& use) const {
    if (is_dense_) {
      const std::span<const double> entries = dense_row(row);
      for (std::size_t column = 0; column < entries.size(); ++column) use(column, entries[column]);
      return;
    }
    const SparseRow entries = sparse_row(row);
    for (std::size_t k = 0; k < entries.indices.size(); ++k) {
      use(static_cast<std::size_t>(entries.indices[k]), entries.values[k]);
    }
  }

  // No row is longer, because with_row_norms_at_most() saw to it; infinity if nobody did. Says nothing about
  // the rows themselves, and so is public.
  double norm_bound() const { return norm_bound_; }

  // The same features with other labels, one per row.
  Rows with_labels(std::vector<double> labels) &&;

  // The same rows less `offset`, one number per column; stored densely. Reuses the storage of dense rows.
  // There is no bound on their norms any more.
  Rows less(std::span<const double> offset) &&;

  // The same table with every row longer than `bound` > 0 shortened to it: x_i * min(1, bound / |x_i|). A row
  // without a finite norm becomes zero. What output and objective perturbation assume of their data.
  // Guarantee   every stored norm is at most `bound`, not only up to rounding.
  Rows with_row_norms_at_most(double bound) const&;
  // The same in the storage of this table, for tables of which there is no room for two.
  Rows with_row_norms_at_most(double bound) &&;

 private:
  Rows(std::size_t columns, bool is_dense, SparseMatrix matrix, std::vector<double> labels);
  std::span<double> stored_values(std::size_t row);
  void measure_row(std::size_t row);
  void shorten_row(std::size_t row, double bound);

  std::size_t columns_;
  bool is_dense_;
  std::vector<std::size_t> starts_;    // sparse only
  std::vector<std::int32_t> indices_;  // sparse only
  std::vector<double> values_;
  std::vector<double> labels_;
  std::vector<double> norms_;
  double norm_bound_ = std::numeric_limits<double>::infinity();
};

}  // namespace ration
