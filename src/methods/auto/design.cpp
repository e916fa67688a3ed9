#include "methods/auto/design.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace ration {
namespace {

constexpr double kLeastVariance = 1e-3;     // beside the noise, of a scaled column
constexpr double kPartOfTheEdge = 0.5;      // eigenvalues are floored at it
constexpr double kLeastEigenvalue = 0.003;  // likewise
constexpr std::size_t kMostColumns = 512;   // work and noise of a second moment grow with their square

Eigen::Index index(std::size_t size) {
  return static_cast<Eigen::Index>(size);
}

// `matrix` has the columns that are `used` alone.
Design design_of(std::size_t columns, std::vector<std::size_t> used, const Eigen::MatrixXd& matrix,
                 double expected_squared_norm, std::size_t directions) {
  return {.view = std::make_shared<const RowView>(
              columns, std::move(used), static_cast<std::size_t>(matrix.rows()),
              std::vector<double>(matrix.data(), matrix.data() + matrix.size())),
          .expected_squared_norm = expected_squared_norm,
          .directions = directions,
          .scales = {},
          .floor = 0};
}

double variance_of(double mean) {
  const double m = std::clamp(mean, 0.0, 1.0);
  return m * (1 - m);
}

// At most kMostColumns, those that vary most, in their order.
std::vector<std::size_t> columns_above_noise(std::span<const double> mean, double stddev) {
  std::vector<std::size_t> kept;
  for (std::size_t j = 0; j < mean.size(); ++j) {
    if (mean[j] >= stddev) kept.push_back(j);
  }
  if (kept.empty())
    kept.push_back(static_cast<std::size_t>(std::max_element(mean.begin(), mean.end()) - mean.begin()));
  if (kept.size() > kMostColumns) {
    const auto varies_more = [&](std::size_t a, std::size_t b) {
      return std::pair(-variance_of(mean[a]), a) < std::pair(-variance_of(mean[b]), b);
    };
    std::nth_element(kept.begin(), kept.begin() + kMostColumns, kept.end(), varies_more);
    kept.resize(kMostColumns);
    std::sort(kept.begin(), kept.end());
  }
  return kept;
}

Eigen::MatrixXd square_of(std::span<const double> upper, std::size_t side) {
  Eigen::MatrixXd matrix(index(side), index(side));
  for (std::size_t i = 0, at = 0; i < side; ++i) {
    for (std::size_t j = i; j < side; ++j, ++at) {
      matrix(index(i), index(j)) = matrix(index(j), index(i)) = upper[at];
    }
  }
  return matrix;
}

}  // namespace

Design centred_and_scaled(std::span<const double> mean, double stddev, bool with_bias) {
  std::vector<std::size_t> used = columns_above_noise(mean, stddev);
  const std::size_t kept = used.size();
  const Eigen::Index bias_column = index(kept);
  Eigen::MatrixXd matrix = Eigen::MatrixXd::Zero(index(kept + (with_bias ? 1 : 0)), bias_column + 1);
  std::vector<double> scales(kept);
  for (std::size_t k = 0; k < kept; ++k) {
    const double m = std::clamp(mean[used[k]], 0.0, 1.0);
    const double variance = std::max(variance_of(m), stddev + kLeastVariance);
    const double scale = 1 / std::sqrt(std::sqrt(variance));
    matrix(index(k), index(k)) = scale;
    matrix(index(k), bias_column) = -scale * m;
    scales[k] = std::min(variance_of(m) + 1e-4, variance) * scale * scale;
  }
  if (with_bias) matrix(index(kept), bias_column) = 1;
  used.push_back(mean.size());
  Design design = design_of(mean.size() + 1, std::move(used), matrix,
                            std::accumulate(scales.begin(), scales.end(), 0.0), kept);
  design.scales = std::move(scales);
  return design;
}

Design whitened(const Design& before, std::span<const double> upper, double stddev) {
  const std::size_t side = before.directions;
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(square_of(upper, side));
  const double edge = stddev * std::sqrt(2 * static_cast<double>(side));
  const double floor = std::max(kPartOfTheEdge * edge, kLeastEigenvalue);
  const Eigen::VectorXd floored = solver.eigenvalues().cwiseMax(floor);
  const Eigen::MatrixXd turn =
      floored.cwiseSqrt().cwiseInverse().asDiagonal() * solver.eigenvectors().transpose();
  std::vector<std::size_t> used(before.view->used().begin(), before.view->used().end());
  const std::size_t bias = before.view->columns() - 1;
  const bool had_bias = used.back() == bias;
  if (!had_bias) used.push_back(bias);
  Eigen::MatrixXd matrix = Eigen::MatrixXd::Zero(index(side + 1), index(used.size()));
  matrix.topLeftCorner(index(side), index(before.view->used().size())).noalias() =
      turn * Eigen::Map<const Eigen::MatrixXd>(before.view->matrix().data(), index(side),
                                               index(before.view->used().size()));
  matrix(index(side), index(used.size()) - 1) = 1;
  const double squared_norm = (solver.eigenvalues().array() / floored.array()).max(0.0).min(1.0).sum();
  Design design = design_of(before.view->columns(), std::move(used), matrix, squared_norm, side);
  design.floor = floor;
  return design;
}

}  // namespace ration
