#include "ration/objectives/row_view.h"

#include <fmt/format.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

#include "base/squared_length.h"
#include "ration/base/error.h"

namespace ration {
namespace {

using Matrix = Eigen::Map<const Eigen::MatrixXd>;
using Vector = Eigen::Map<Eigen::VectorXd>;
using ConstVector = Eigen::Map<const Eigen::VectorXd>;

Eigen::Index index(std::size_t size) {
  return static_cast<Eigen::Index>(size);
}

// How much longer |M| makes a vector at most, rounded up: no more than Frobenius's norm, and, squared, no
// more than the largest ratio between |M|^T |M| v and v, for any v > 0 [Horn13, Sec. 8.1]; with v near the
// longest direction it is hardly more than the truth. In units of the largest number, so that nothing that
// counts is lost; what rounding takes is far below the part that is added.
double largest_stretch(const Matrix& matrix) {
  constexpr int kRounds = 30;
  const double unit = matrix.cwiseAbs().maxCoeff();
  if (unit == 0) return 0;
  const Eigen::MatrixXd units = matrix.cwiseAbs() / unit;
  double square = units.squaredNorm();
  Eigen::VectorXd v = Eigen::VectorXd::Ones(units.cols());
  for (int round = 0; round < kRounds; ++round) {
    const Eigen::VectorXd next = units.transpose() * (units * v);
    square = std::min(square, (next.array() / v.array()).maxCoeff());
    v = (next / next.maxCoeff()).cwiseMax(1e-6);
  }
  return unit * std::sqrt(square) * (1 + 0x1p-20) + std::numeric_limits<double>::min();
}

void require_multiple(std::size_t size, std::size_t of, std::size_t out, std::size_t expected) {
  if (size % of == 0 && out == size / of * expected) return;
  throw InputError(
      fmt::format("row view: expected a multiple of {} numbers and {} places for each, got {} and {}", of,
                  expected, size, out));
}

}  // namespace

RowView::RowView(std::size_t columns, std::vector<std::size_t> used, std::size_t coordinates,
                 std::vector<double> matrix)
    : used_(std::move(used)),
      coordinates_(coordinates),
      matrix_(std::move(matrix)),
      places_(columns, kUnused) {
  if (used_.empty() || used_.back() >= columns ||
      std::adjacent_find(used_.begin(), used_.end(), std::greater_equal{}) != used_.end()) {
    throw InputError(fmt::format("row view: expected increasing columns below {}, at least one", columns));
  }
  if (coordinates == 0 || matrix_.size() != used_.size() * coordinates) {
    throw InputError(fmt::format("row view: expected {} x {} numbers, at least one, got {}", used_.size(),
                                 coordinates, matrix_.size()));
  }
  if (!std::all_of(matrix_.begin(), matrix_.end(), [](double value) { return std::isfinite(value); })) {
    throw InputError("row view: expected finite numbers");
  }
  if (!std::isfinite(squared_length(matrix_)))
    throw InputError("row view: expected numbers whose squares do not overflow");
  size_ = largest_stretch(Matrix(matrix_.data(), index(coordinates_), index(used_.size())));
  for (std::size_t k = 0; k < used_.size(); ++k) places_[used_[k]] = static_cast<std::int32_t>(k);
}

void RowView::weights_for_rows(std::span<const double> seen, std::span<double> out) const {
  require_multiple(seen.size(), coordinates_, out.size(), columns());
  const Matrix matrix(matrix_.data(), index(coordinates_), index(used_.size()));
  std::fill(out.begin(), out.end(), 0.0);
  for (std::size_t first = 0, to = 0; first < seen.size(); first += coordinates_, to += columns()) {
    const ConstVector weights(seen.data() + first, index(coordinates_));
    for (std::size_t k = 0; k < used_.size(); ++k) out[to + used_[k]] = matrix.col(index(k)).dot(weights);
  }
}

void RowView::look(std::span<const double> rows, std::span<double> out) const {
  require_multiple(rows.size(), columns(), out.size(), coordinates_);
  const Matrix matrix(matrix_.data(), index(coordinates_), index(used_.size()));
  for (std::size_t first = 0, to = 0; first < rows.size(); first += columns(), to += coordinates_) {
    Vector seen(out.data() + to, index(coordinates_));
    seen.setZero();
    for (std::size_t k = 0; k < used_.size(); ++k) seen += rows[first + used_[k]] * matrix.col(index(k));
  }
}

void RowView::look_twice(std::span<const double> used_upper, std::span<double> out_upper) const {
  const std::size_t side = used_.size();
  if (used_upper.size() != triangle_size(side) || out_upper.size() != triangle_size(coordinates_)) {
    throw InputError(fmt::format("row view: expected triangles of {} and {} columns", side, coordinates_));
  }
  Eigen::MatrixXd moments(index(side), index(side));
  for (std::size_t i = 0, at = 0; i < side; ++i) {
    for (std::size_t j = i; j < side; ++j, ++at) {
      moments(index(i), index(j)) = moments(index(j), index(i)) = used_upper[at];
    }
  }
  const Matrix matrix(matrix_.data(), index(coordinates_), index(side));
  const Eigen::MatrixXd seen = matrix * (moments * matrix.transpose());
  for (std::size_t i = 0, at = 0; i < coordinates_; ++i) {
    for (std::size_t j = i; j < coordinates_; ++j, ++at) out_upper[at] = seen(index(i), index(j));
  }
}

}  // namespace ration
