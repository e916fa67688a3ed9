#include "e6/adassp.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <random>

#include "train/signal.h"

namespace ration::e6 {
namespace {

constexpr double kMiddle = 0.5;  // of labels in [0, 1]

struct Sums {
  Eigen::MatrixXd products;
  Eigen::VectorXd with_label;
};

Sums sums_over(const Rows& rows, double longest) {
  const auto columns = static_cast<Eigen::Index>(rows.columns());
  Sums sums{Eigen::MatrixXd::Zero(columns, columns), Eigen::VectorXd::Zero(columns)};
  std::vector<std::pair<Eigen::Index, double>> entries;
  for (std::size_t row = 0; row < rows.count(); ++row) {
    const double factor = std::min(1.0, longest / std::max(1e-9, rows.norms()[row]));
    entries.clear();
    rows.for_each_entry(row, [&](std::size_t column, double value) {
      if (value != 0) entries.emplace_back(static_cast<Eigen::Index>(column), factor * value);
    });
    for (const auto& [i, x] : entries) {
      sums.with_label(i) += x * (rows.labels()[row] - kMiddle);
      for (const auto& [j, z] : entries) sums.products(i, j) += x * z;
    }
  }
  return sums;
}

}  // namespace

double score_of_adassp(const MadeUp& table, double epsilon, double delta, double longest) {
  std::mt19937_64 random(std::random_device{}());
  std::normal_distribution<double> normal;
  auto [products, with_label] = sums_over(*table.train, longest);
  const auto columns = products.rows();
  const double noise = std::sqrt(3.0) / mu_of({epsilon, delta});
  const double of_products = noise * longest * longest;
  const double of_labels = noise * longest * kMiddle;
  constexpr double kFailure = 0.05;
  const auto d = static_cast<double>(columns);
  const double smallest = Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(products).eigenvalues()(0);
  const double below =
      smallest + of_products * normal(random) - of_products * std::sqrt(2 * std::log(6 / kFailure));
  const double ridge =
      std::max(0.0, of_products * std::sqrt(d * std::log(2 * d * d / kFailure)) - std::max(0.0, below));
  for (Eigen::Index i = 0; i < columns; ++i) {
    for (Eigen::Index j = i; j < columns; ++j) {
      const double sum = products(i, j) + of_products * normal(random);
      products(i, j) = products(j, i) = sum;
    }
    products(i, i) += ridge;
    with_label(i) += of_labels * normal(random);
  }
  const Eigen::VectorXd weights = products.ldlt().solve(with_label);
  double error = 0, mean = 0, square = 0;
  const auto rows = static_cast<double>(table.test.count());
  for (std::size_t row = 0; row < table.test.count(); ++row) {
    double value = kMiddle;
    table.test.for_each_entry(
        row, [&](std::size_t column, double x) { value += x * weights(static_cast<Eigen::Index>(column)); });
    const double label = table.test.labels()[row];
    error += std::pow(std::clamp(value, 0.0, 1.0) - label, 2) / rows;
    mean += label / rows;
    square += label * label / rows;
  }
  return 100 * (1 - error / (square - mean * mean));
}

}  // namespace ration::e6
