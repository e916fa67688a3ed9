#include "methods/auto/curvature_guess.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "base/public_random.h"

namespace ration {
namespace {

using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;

// Rows are not normal, and clipping shortens some more than others, so curvatures differ between directions
// by about so much, as logarithms; chosen on made-up tables.
constexpr double kSpread = 0.15;
constexpr std::size_t kMostDraws = 8;
constexpr double kDrawnEntries = 1 << 14;  // of all draws together, or one

// Of entries beside the diagonal; those on it have twice the variance.
Matrix symmetric_noise(Eigen::Index side, double stddev, PublicRandom& random) {
  std::normal_distribution<double> normal(0, stddev);
  Matrix noise(side, side);
  for (Eigen::Index i = 0; i < side; ++i) {
    for (Eigen::Index j = 0; j < i; ++j) noise(i, j) = noise(j, i) = normal(random);
    noise(i, i) = std::sqrt(2) * normal(random);
  }
  return noise;
}

CurvatureGuess with_bias(const Vector& curvatures, const Matrix& overlaps) {
  const Eigen::Index side = curvatures.size();
  CurvatureGuess guess{.curvatures = Vector::Ones(side + 1), .overlaps = Matrix::Zero(side + 1, side + 1)};
  guess.curvatures.head(side) = curvatures;
  guess.overlaps.topLeftCorner(side, side) = overlaps;
  guess.overlaps(side, side) = 1;
  return guess;
}

CurvatureGuess draw(const Vector& eigenvalues, const Vector& floored, double noise, PublicRandom& random) {
  const Eigen::Index side = eigenvalues.size();
  Matrix noisy = symmetric_noise(side, noise, random);
  noisy.diagonal() += eigenvalues;
  const Eigen::SelfAdjointEigenSolver<Matrix> released(noisy);
  const Matrix turn = floored.cwiseSqrt().cwiseInverse().asDiagonal() * released.eigenvectors().transpose();
  const Eigen::SelfAdjointEigenSolver<Matrix> seen(turn * eigenvalues.asDiagonal() * turn.transpose());
  Vector curvatures = seen.eigenvalues().cwiseMax(0.0);
  std::normal_distribution<double> spread(0, kSpread);
  for (double& one : curvatures) one *= std::exp(spread(random));
  return with_bias(curvatures, seen.eigenvectors().cwiseAbs2());
}

Matrix square_of(std::span<const double> upper, Eigen::Index side) {
  Matrix matrix(side, side);
  std::size_t at = 0;
  for (Eigen::Index i = 0; i < side; ++i) {
    for (Eigen::Index j = i; j < side; ++j) matrix(i, j) = matrix(j, i) = upper[at++];
  }
  return matrix;
}

// What a view that scales each column by itself makes of weights that no row can tell from 0, as orthonormal
// columns, and orthonormal columns for the rest.
Matrix directions_of_rows(const RowView& before, std::span<const data::OneHotGroup> groups) {
  const auto side = static_cast<Eigen::Index>(before.coordinates());
  std::vector<Vector> empty;
  for (const data::OneHotGroup& group : groups) {
    Vector direction = Vector::Zero(side);
    bool whole = true;
    for (std::size_t column = group.first; column < group.first + group.count; ++column) {
      const std::int32_t place = before.place(column);
      whole = whole && place != RowView::kUnused;
      if (whole) direction[place] = 1 / before.column_at(place)[static_cast<std::size_t>(place)];
    }
    if (whole) empty.push_back(direction);
  }
  Matrix all = Matrix::Identity(side, side);
  if (empty.empty()) return all;
  Matrix known(side, static_cast<Eigen::Index>(empty.size()));
  for (std::size_t g = 0; g < empty.size(); ++g) known.col(static_cast<Eigen::Index>(g)) = empty[g];
  const Eigen::HouseholderQR<Matrix> basis(known);
  return (basis.householderQ() * all).rightCols(side - known.cols());
}

Matrix matrix_of(const RowView& view) {
  const auto rows = static_cast<Eigen::Index>(view.coordinates());
  Matrix matrix = Matrix::Zero(rows, static_cast<Eigen::Index>(view.columns()));
  for (const std::size_t column : view.used())
    matrix.col(static_cast<Eigen::Index>(column)) =
        Eigen::Map<const Vector>(view.column_at(view.place(column)).data(), rows);
  return matrix;
}

}  // namespace

Vector eigenvalues_without_noise(Vector eigenvalues, double noise) {
  constexpr int kSteps = 20;
  for (int step = 0; step < kSteps; ++step) {
    const double left = noise * noise * (kSteps - step) / kSteps;  // variance that is still in them
    const Vector now = eigenvalues;
    for (Eigen::Index i = 0; i < now.size(); ++i) {
      const Eigen::ArrayXd gaps = now[i] - now.array();
      eigenvalues[i] -= noise * noise / kSteps * (gaps / (gaps.square() + left)).sum();
    }
    std::sort(eigenvalues.begin(), eigenvalues.end());
  }
  return eigenvalues;
}

NoiseDesign white_noise_design(const RowView& before, const NoisyMoment& moment,
                               std::span<const data::OneHotGroup> groups, std::uint64_t seed) {
  const auto all = static_cast<Eigen::Index>(before.coordinates());
  const Matrix kept = directions_of_rows(before, groups);
  const Eigen::Index side = kept.cols();
  const Eigen::SelfAdjointEigenSolver<Matrix> solver(kept.transpose() * square_of(moment.upper, all) * kept);
  const Vector floored = solver.eigenvalues().cwiseMax(moment.floor);
  NoiseDesign out;
  out.factor = Matrix::Zero(side + 1, static_cast<Eigen::Index>(before.columns()));
  out.factor.topRows(side) = floored.cwiseSqrt().cwiseInverse().asDiagonal() *
                             (kept * solver.eigenvectors()).transpose() * matrix_of(before);
  out.factor(side, out.factor.cols() - 1) = 1;
  const Vector real = eigenvalues_without_noise(solver.eigenvalues(), moment.noise).cwiseMax(0.0);
  const auto draws = std::clamp<std::size_t>(
      static_cast<std::size_t>(kDrawnEntries / static_cast<double>(side * side)), 1, kMostDraws);
  PublicRandom random(seed);
  while (out.guesses.size() < draws) out.guesses.push_back(draw(real, floored, moment.noise, random));
  return out;
}

NoiseDesign plain_noise_design(const RowView& view, std::span<const double> scales) {
  const auto side = static_cast<Eigen::Index>(scales.size());
  return {matrix_of(view),
          {with_bias(Eigen::Map<const Vector>(scales.data(), side), Matrix::Identity(side, side))}};
}

}  // namespace ration
