// One step of private logistic regression on a table of adult's shape, 48,842 x 124, as a run takes it:
// charge the budget, draw a tenth of the rows, sum their clipped gradients, add the noise, step, average.
// Against it the same code without budget, clipping and noise; a plain gradient in Eigen; and NumPy
// (numpy_bench.cpp). All draw their rows by Poisson sampling. On one thread.
#include <benchmark/benchmark.h>

#include <Eigen/Dense>
#include <Eigen/SparseCore>
#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <vector>

#include "logistic_table.h"
#include "methods/gradient_descent.h"
#include "ration/objectives/glm/glm.h"
#include "ration/sampling/poisson.h"

namespace {

using namespace ration;
using namespace ration::bench;

constexpr std::int64_t kMostSteps = 100'000;  // of one repetition

std::unique_ptr<Objective> logistic(const std::shared_ptr<const Rows>& table) {
  return make_glm(table, {.loss = GlmLoss::logistic, .threads = 1});
}

PoissonSampler sampler_of(const Rows& table, double rate) {
  return {{.rows = table.count(), .declared_rows = static_cast<double>(table.count())}, rate};
}

// A budget that all the steps of a repetition fit, whatever it is worth.
std::unique_ptr<BudgetFilter> filter_for(const Event& step) {
  return make_plan_filter(Event::repeated(step, kMostSteps), Accountant::rdp, {.epsilon = 1e9, .delta = 1e-6},
                          Relation::add_remove);
}

void private_steps(benchmark::State& state, const std::shared_ptr<const Rows>& table, double rate) {
  const auto objective = logistic(table);
  const PoissonSampler sampler = sampler_of(*table, rate);
  const auto filter = filter_for(sampler.sampled(Event::gaussian(1)));
  PrivateOracle oracle(*objective, sampler, *filter, SecureRandom::for_this_thread());
  const auto method = make_gradient_descent({.noise = std::vector<double>(kMostSteps, 1.0)}, kColumns);
  for (auto _ : state) {
    if (!method->step(oracle)) state.SkipWithError("no more steps");
  }
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

// 31 and 62 are a quarter and a half of the columns (Rows::kDenseFrom).
void private_sparse(benchmark::State& state) {
  private_steps(state, sparse_table(static_cast<std::size_t>(state.range(0))), kRate);
}
BENCHMARK(private_sparse)
    ->Name("convex/private_sparse")
    ->Arg(kAdultEntries)
    ->Arg(31)
    ->Arg(62)
    ->Unit(benchmark::kMillisecond);

// The same rows in units of so many, of which a tenth is drawn: `seen` through a map, as method auto has it.
void private_units(benchmark::State& state, const std::shared_ptr<const Rows>& table, bool seen) {
  const auto size = static_cast<std::size_t>(state.range(0));
  std::vector<std::size_t> starts{0};
  while (starts.back() < table->count()) starts.push_back(std::min(table->count(), starts.back() + size));
  const auto units = std::make_shared<const Units>(starts, size);
  auto objective =
      make_glm(table, {.loss = GlmLoss::logistic, .threads = 1, .units = size > 1 ? units : nullptr});
  if (seen) {
    std::vector<std::size_t> used(kColumns);
    std::iota(used.begin(), used.end(), std::size_t{0});
    std::vector<double> matrix(kColumns * kColumns);
    for (std::size_t i = 0; i < matrix.size(); ++i) matrix[i] = std::sin(static_cast<double>(i));
    objective = objective->seen_through(std::make_shared<const RowView>(kColumns, used, kColumns, matrix));
  }
  const auto count = static_cast<double>(objective->rows());
  const PoissonSampler sampler({.rows = objective->rows(), .declared_rows = count}, kRate);
  const auto filter = filter_for(sampler.sampled(Event::gaussian(1)));
  PrivateOracle oracle(*objective, sampler, *filter, SecureRandom::for_this_thread());
  const auto method = make_gradient_descent({.noise = std::vector<double>(kMostSteps, 1.0)}, kColumns);
  for (auto _ : state) {
    if (!method->step(oracle)) state.SkipWithError("no more steps");
  }
}
void sizes_of_units(benchmark::internal::Benchmark* benchmark) {
  benchmark->Arg(1)->Arg(2)->Arg(8)->Arg(40)->Unit(benchmark::kMillisecond);
}
void units_dense(benchmark::State& state) {
  private_units(state, dense_table(), false);
}
BENCHMARK(units_dense)->Name("convex/units_dense")->Apply(sizes_of_units);
void units_sparse(benchmark::State& state) {
  private_units(state, sparse_table(kAdultEntries), false);
}
BENCHMARK(units_sparse)->Name("convex/units_sparse")->Apply(sizes_of_units);
void units_sparse_seen(benchmark::State& state) {
  private_units(state, sparse_table(kAdultEntries), true);
}
BENCHMARK(units_sparse_seen)->Name("convex/units_sparse_seen")->Apply(sizes_of_units);

// What privacy costs: without budget, clipping to speak of, and noise; sampler, sums, step rule and average
// are the same.
void unclipped_dense(benchmark::State& state) {
  const auto objective = logistic(dense_table());
  const PoissonSampler sampler = sampler_of(*dense_table(), kRate);
  const GradientDescentOptions options;
  const auto rule = make_step_rule(options.step, kColumns);
  IterateAverage average(options.average, kColumns, kMostSteps);
  const AnyClipRule no_clip = Abadi{1e100};
  std::vector<double> weights(kColumns);
  std::vector<double> gradient(kColumns);
  Batch batch;
  std::int64_t step = 0;
  for (auto _ : state) {
    sampler.draw(SecureRandom::for_this_thread(), batch);
    objective->clipped_gradient_sum(weights, batch, no_clip, gradient);
    for (double& value : gradient) value /= batch.divisor;
    rule->step({.value = gradient}, options.learning_rate.base, weights);
    average.add(++step, weights);
  }
}
BENCHMARK(unclipped_dense)->Name("convex/unclipped_dense")->Unit(benchmark::kMillisecond);

std::vector<double> some_weights() {
  std::vector<double> weights(kColumns);
  for (std::size_t i = 0; i < kColumns; ++i) weights[i] = 0.01 * static_cast<double>(i % 7) - 0.03;
  return weights;
}

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
  const auto matrix = in_eigen(random_matrix(kAdultEntries));
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
