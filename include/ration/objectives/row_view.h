// For extensions: may change between minor versions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace ration {

// Rows seen through a public linear map: z = M x. A bias column of ones makes it affine, so that M may also
// subtract a mean.
//
// Why       models of centred, scaled or whitened rows, without a table of them: with weights u of what is
//           seen, u z = (M^T u) x, so outputs are products with the rows as they are, and a sum of c_i z_i is
//           M times the sum of c_i x_i. A step on sparse rows stays sparse.
// Privacy   M must not come from the private rows, unless it was computed from answers that are private
//           already.
class RowView {
 public:
  // `matrix` is M without the columns that are not in `used`, which are zero; column by column. InputError
  // unless `used` increases, is below `columns` and not empty, and the numbers are finite and as many.
  RowView(std::size_t columns, std::vector<std::size_t> used, std::size_t coordinates,
          std::vector<double> matrix);

  // Of the rows.
  std::size_t columns() const { return places_.size(); }
  // Those that are looked at.
  std::span<const std::size_t> used() const { return used_; }
  // Of what is seen.
  std::size_t coordinates() const { return coordinates_; }
  // The place of a column that is not used.
  static constexpr std::int32_t kUnused = -1;
  // A column's place among those that are used.
  std::int32_t place(std::size_t column) const { return places_[column]; }
  // What the column at this place becomes.
  std::span<const double> column_at(std::int32_t place) const {
    return std::span(matrix_).subspan(static_cast<std::size_t>(place) * coordinates_, coordinates_);
  }
  // M without its zero columns, column by column.
  std::span<const double> matrix() const { return matrix_; }
  // How much longer |M| makes a vector at most, |M| being M without its signs: a bound, not above Frobenius's
  // norm but for rounding. What errors of products with M grow with.
  double size() const { return size_; }

  // out = M^T u: weights for the rows from weights for what is seen. Several outputs one after the other.
  void weights_for_rows(std::span<const double> seen, std::span<double> out) const;
  // out = M x, for sums of rows. Several outputs one after the other.
  void look(std::span<const double> rows, std::span<double> out) const;
  // M S M^T for a symmetric S, of the used columns alone; both as upper triangles, row by row.
  void look_twice(std::span<const double> used_upper, std::span<double> out_upper) const;

 private:
  std::vector<std::size_t> used_;
  std::size_t coordinates_;
  std::vector<double> matrix_;
  std::vector<std::int32_t> places_;
  double size_;
};

// How many numbers an upper triangle with its diagonal has.
constexpr std::size_t triangle_size(std::size_t side) {
  return side * (side + 1) / 2;
}

}  // namespace ration
