// One step of private logistic regression on a table of adult's shape, 48,842 x 124: draw a tenth of the
// rows, sum their clipped gradients, add the noise. Against it the same code without clipping and noise, and
// a plain step in Eigen. All draw their rows the same way. On one thread.
#include <benchmark/benchmark.h>

#include <Eigen/Dense>
#include <Eigen/SparseCore>
#include <cmath>
#include <memory>
#include <random>
#include <vector>

#include "ration/mechanisms/gaussian.h"
#include "ration/objectives/glm/glm.h"
#include "ration/sampling/poisson.h"

namespace {

using namespace ration;

constexpr std::size_t kRows = 48'842;
constexpr std::size_t kColumns = 124;
constexpr double kRate = 0.1;

// `per_row` entries of each row are not 0.
SparseMatrix random_matrix(std::size_t per_row) {
  std::mt19937_64 random(1);
  SparseMatrix matrix{.columns = kColumns, .starts = {0}, .indices = {}, .values = {}};
  for (std::size_t row = 0; row < kRows; ++row) {
    std::size_t needed = per_row;
    for (std::size_t column = 0; column < kColumns; ++column) {
      if (random() % (kColumns - column) >= needed) continue;
      --needed;
      matrix.indices.push_back(static_cast<std::int32_t>(column));
      matrix.values.push_back(static_cast<double>(random() % 1000) / 1000);
    }
    matrix.starts.push_back(matrix.values.size());
  }
  return matrix;
}

std::vector<double> random_labels() {
  std::mt19937_64 random(2);
  std::vector<double> labels(kRows);
  for (double& label : labels) label = static_cast<double>(random() % 2);
  return labels;
}

std::shared_ptr<const Rows> dense_table() {
  static const auto table =
      std::make_shared<const Rows>(Rows::build(random_matrix(kColumns), random_labels()));
  return table;
}

std::shared_ptr<const Rows> sparse_table(std::size_t per_row) {
  return std::make_shared<const Rows>(Rows::sparse(random_matrix(per_row), random_labels()));
}

std::vector<double> some_weights() {
  std::vector<double> weights(kColumns);
  for (std::size_t i = 0; i < kColumns; ++i) weights[i] = 0.01 * static_cast<double>(i % 7) - 0.03;
  return weights;
}

void private_steps(benchmark::State& state, const std::shared_ptr<const Rows>& table, double rate) {
  const auto objective = make_glm(table, {.loss = GlmLoss::logistic, .threads = 1});
  const PoissonSampler sampler({.rows = kRows, .declared_rows = kRows}, rate);
  const AnyClipRule clip = AutoS{};
  const GaussianMechanism mechanism(
      {.sensitivity = clip.sensitivity(sampler.relation()), .noise_multiplier = 1});
  const std::vector<double> weights = some_weights();
  std::vector<double> sum(kColumns);
  Batch batch;
  std::int64_t drawn = 0;
  for (auto _ : state) {
    sampler.draw(SecureRandom::for_this_thread(), batch);
    objective->clipped_gradient_sum(weights, batch, clip, sum);
    mechanism.add_noise(sum, SecureRandom::for_this_thread());
    drawn += static_cast<std::int64_t>(batch.rows.size());
    benchmark::DoNotOptimize(sum.data());
  }
  state.SetItemsProcessed(drawn);
}

void private_dense(benchmark::State& state) {
  private_steps(state, dense_table(), static_cast<double>(state.range(0)) / 100);
}
BENCHMARK(private_dense)
    ->Name("convex/private_dense")
    ->Arg(1)
    ->Arg(10)
    ->Arg(100)
    ->Unit(benchmark::kMillisecond);

// adult has 14 values in 124 columns; 31 and 62 are a quarter and a half of them (Rows::kDenseFrom).
void private_sparse(benchmark::State& state) {
  private_steps(state, sparse_table(static_cast<std::size_t>(state.range(0))), kRate);
}
BENCHMARK(private_sparse)
    ->Name("convex/private_sparse")
    ->Arg(14)
    ->Arg(31)
    ->Arg(62)
    ->Unit(benchmark::kMillisecond);

// The same code without clipping to speak of, and without noise: what privacy costs.
void unclipped_dense(benchmark::State& state) {
  const auto objective = make_glm(dense_table(), {.loss = GlmLoss::logistic, .threads = 1});
  const PoissonSampler sampler({.rows = kRows, .declared_rows = kRows}, kRate);
  const AnyClipRule no_clip = Abadi{1e100};
  const std::vector<double> weights = some_weights();
  std::vector<double> sum(kColumns);
  Batch batch;
  for (auto _ : state) {
    sampler.draw(SecureRandom::for_this_thread(), batch);
    objective->clipped_gradient_sum(weights, batch, no_clip, sum);
    benchmark::DoNotOptimize(sum.data());
  }
}
BENCHMARK(unclipped_dense)->Name("convex/unclipped_dense")->Unit(benchmark::kMillisecond);

void to_slopes(Eigen::ArrayXd& outputs, const std::vector<std::uint64_t>& rows,
               std::span<const double> labels) {
  outputs = 1 / (1 + (-outputs).exp());
  for (std::size_t r = 0; r < rows.size(); ++r) outputs[static_cast<Eigen::Index>(r)] -= labels[rows[r]];
}

void plain_dense(benchmark::State& state) {
  using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const auto table = dense_table();
  const PoissonSampler sampler({.rows = kRows, .declared_rows = kRows}, kRate);
  Batch batch;
  const std::vector<double> weights = some_weights();
  const Eigen::Map<const Eigen::VectorXd> w(weights.data(), kColumns);
  Matrix drawn;
  Eigen::ArrayXd outputs;
  Eigen::VectorXd gradient;
  for (auto _ : state) {
    sampler.draw(SecureRandom::for_this_thread(), batch);
    drawn.resize(static_cast<Eigen::Index>(batch.rows.size()), kColumns);
    for (std::size_t r = 0; r < batch.rows.size(); ++r) {
      drawn.row(static_cast<Eigen::Index>(r)) =
          Eigen::Map<const Eigen::RowVectorXd>(table->dense_row(batch.rows[r]).data(), kColumns);
    }
    outputs = drawn * w;
    to_slopes(outputs, batch.rows, table->labels());
    gradient.noalias() = drawn.transpose() * outputs.matrix();
    benchmark::DoNotOptimize(gradient.data());
  }
}
BENCHMARK(plain_dense)->Name("convex/plain_dense")->Unit(benchmark::kMillisecond);

Eigen::SparseMatrix<double, Eigen::RowMajor> in_eigen(const SparseMatrix& matrix) {
  std::vector<Eigen::Triplet<double>> entries;
  for (std::size_t row = 0; row < matrix.rows(); ++row) {
    for (std::size_t entry = matrix.starts[row]; entry < matrix.starts[row + 1]; ++entry) {
      entries.emplace_back(static_cast<int>(row), matrix.indices[entry], matrix.values[entry]);
    }
  }
  Eigen::SparseMatrix<double, Eigen::RowMajor> result(static_cast<Eigen::Index>(matrix.rows()), kColumns);
  result.setFromTriplets(entries.begin(), entries.end());
  return result;
}

void plain_sparse(benchmark::State& state) {
  const auto matrix = in_eigen(random_matrix(14));
  const std::vector<double> labels = random_labels();
  const PoissonSampler sampler({.rows = kRows, .declared_rows = kRows}, kRate);
  Batch batch;
  const std::vector<double> weights = some_weights();
  const Eigen::Map<const Eigen::VectorXd> w(weights.data(), kColumns);
  Eigen::ArrayXd outputs;
  Eigen::RowVectorXd gradient(kColumns);
  for (auto _ : state) {
    sampler.draw(SecureRandom::for_this_thread(), batch);
    outputs.resize(static_cast<Eigen::Index>(batch.rows.size()));
    gradient.setZero();
    for (Eigen::Index r = 0; r < outputs.size(); ++r) {
      outputs[r] = matrix.row(static_cast<Eigen::Index>(batch.rows[static_cast<std::size_t>(r)])).dot(w);
    }
    to_slopes(outputs, batch.rows, labels);
    for (Eigen::Index r = 0; r < outputs.size(); ++r) {
      gradient += outputs[r] * matrix.row(static_cast<Eigen::Index>(batch.rows[static_cast<std::size_t>(r)]));
    }
    benchmark::DoNotOptimize(gradient.data());
  }
}
BENCHMARK(plain_sparse)->Name("convex/plain_sparse")->Unit(benchmark::kMillisecond);

}  // namespace
