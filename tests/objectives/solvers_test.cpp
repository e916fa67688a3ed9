#include "objectives/solvers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

#include "base/distributions.h"
#include "objectives/accelerated.h"
#include "objectives/tables.h"
#include "ration/base/error.h"
#include "support/doubles.h"

namespace ration::testing {
namespace {

using Vector = std::vector<double>;

constexpr GlmLoss kSmooth[] = {GlmLoss::logistic, GlmLoss::softmax, GlmLoss::huber, GlmLoss::squared};
constexpr std::size_t kRows = 23;
constexpr std::size_t kColumns = 3;

// A table and all of its rows, over a divisor that is not their number.
struct Bench {
  explicit Bench(GlmLoss loss, double divisor = 20) {
    objective = glm(loss, random_table(loss, Storage::dense, kRows, kColumns, false, random));
    batch = all(kRows);
    batch.divisor = divisor;
  }
  std::size_t parameters() const { return objective->parameters(); }

  std::mt19937_64 random{5};
  std::unique_ptr<Objective> objective;
  Batch batch;
};

// F, from the losses alone.
double value(const RidgeProblem& problem, const Vector& w) {
  double sum = loss_sums(problem.objective, {w}, problem.batch, 1e100)[0];
  double square = 0;
  for (std::size_t i = 0; i < w.size(); ++i) {
    if (!problem.linear.empty()) sum += problem.linear[i] * w[i];
    square += w[i] * w[i];
  }
  return sum / problem.batch.divisor + 0.5 * problem.ridge * square;
}

Vector gradient_of(const RidgeProblem& problem, const Vector& w) {
  Vector gradient(w.size());
  ridge_gradient(problem, w, gradient);
  return gradient;
}

double length(const Vector& v) {
  return std::sqrt(std::inner_product(v.begin(), v.end(), v.begin(), 0.0));
}

void expect_near(const Vector& a, const Vector& b, double tolerance) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], tolerance) << i;
}

TEST(RidgeGradient, IsTheDerivative) {
  for (const GlmLoss loss : kSmooth) {
    Bench bench(loss);
    const Vector linear = random_weights(bench.parameters(), 3, bench.random);
    const Vector w = random_weights(bench.parameters(), 0.3, bench.random);
    for (const bool with_linear : {false, true}) {
      const RidgeProblem problem{
          .objective = *bench.objective,
          .batch = bench.batch,
          .ridge = 0.7,
          .linear = with_linear ? std::span<const double>(linear) : std::span<const double>()};
      const Vector gradient = gradient_of(problem, w);
      Vector other(w.size());
      EXPECT_NEAR(ridge_gradient(problem, w, other), length(gradient), 1e-12);
      for (std::size_t i = 0; i < w.size(); ++i) {
        Vector up = w, down = w;
        up[i] += 1e-5;
        down[i] -= 1e-5;
        EXPECT_NEAR(gradient[i], (value(problem, up) - value(problem, down)) / 2e-5, 1e-7);
      }
    }
  }
}

TEST(Descent, IsStepAfterStep) {
  Bench bench(GlmLoss::logistic);
  const RidgeProblem problem{.objective = *bench.objective, .batch = bench.batch, .ridge = 0.2};
  SeededRandom unused(1);
  Vector fit(bench.parameters(), 99.0), by_hand(bench.parameters(), 0.0);
  run_fit(problem, DescentFit{.steps = 4, .step_size = 0.3}, unused, fit);
  for (int t = 0; t < 4; ++t) {
    const Vector gradient = gradient_of(problem, by_hand);
    for (std::size_t i = 0; i < fit.size(); ++i) by_hand[i] -= 0.3 * gradient[i];
  }
  expect_near(fit, by_hand, 1e-15);
}

// The order in which the batches come, from the same bits.
std::vector<std::vector<std::uint64_t>> expected_batches(std::uint64_t size, RandomSource& random) {
  std::vector<std::uint64_t> order(kRows);
  std::iota(order.begin(), order.end(), std::uint64_t{0});
  for (std::size_t i = kRows; i > 1; --i) std::swap(order[i - 1], order[uniform_below(random, i)]);
  std::vector<std::vector<std::uint64_t>> batches;
  for (std::size_t i = 0; i < kRows; ++i) {
    if (i % size == 0) batches.emplace_back();
    batches.back().push_back(order[i]);
  }
  return batches;
}

Vector passes_by_hand(const RidgeProblem& problem, const PassesFit& fit, RandomSource& random) {
  const auto batches = expected_batches(fit.batch, random);
  EXPECT_EQ(batches.size(), fit.steps_per_pass(kRows));
  const bool averages = fit.result == PassesFit::Result::pass_averages;
  Vector w(problem.objective.parameters(), 0.0);
  for (std::uint64_t pass = 0; pass < fit.passes; ++pass) {
    Vector sum(w.size(), 0.0);
    for (std::size_t b = 0; b < batches.size(); ++b) {
      auto rows = batches[averages && pass % 2 == 1 ? batches.size() - 1 - b : b];
      std::sort(rows.begin(), rows.end());
      const Batch one{.rows = rows, .divisor = static_cast<double>(fit.batch)};
      const RidgeProblem part{.objective = problem.objective, .batch = one, .ridge = problem.ridge};
      const Vector gradient = gradient_of(part, w);
      for (std::size_t i = 0; i < w.size(); ++i) sum[i] += w[i] -= fit.step_size * gradient[i];
    }
    for (std::size_t i = 0; averages && i < w.size(); ++i)
      w[i] = sum[i] / static_cast<double>(batches.size());
  }
  return w;
}

TEST(Passes, ArePassAfterPass) {
  for (const auto result : {PassesFit::Result::last, PassesFit::Result::pass_averages}) {
    for (const std::uint64_t batch : {1, 5, 23, 100}) {
      Bench bench(GlmLoss::logistic);
      const RidgeProblem problem{.objective = *bench.objective, .batch = bench.batch, .ridge = 0.2};
      const PassesFit fit{.passes = 3, .batch = batch, .step_size = 0.2, .result = result};
      SeededRandom random(11), same(11);
      Vector w(bench.parameters());
      run_fit(problem, fit, random, w);
      expect_near(w, passes_by_hand(problem, fit, same), 1e-14);
    }
  }
}

TEST(Passes, OverNoRowsStayAtZero) {
  Bench bench(GlmLoss::logistic);
  bench.batch.rows.clear();
  SeededRandom random(1);
  Vector w(bench.parameters(), 7.0);
  run_fit({.objective = *bench.objective, .batch = bench.batch}, PassesFit{}, random, w);
  EXPECT_EQ(w, Vector(w.size(), 0.0));
}

// Newton's method for losses whose curvature has no jumps, its Hessian by differences of the gradient.
Vector newton(const RidgeProblem& problem) {
  const std::size_t size = problem.objective.parameters();
  Vector w(size, 0.0);
  for (int t = 0; t < 60; ++t) {
    const Vector gradient = gradient_of(problem, w);
    Eigen::MatrixXd hessian(size, size);
    for (std::size_t j = 0; j < size; ++j) {
      Vector up = w, down = w;
      up[j] += 1e-5;
      down[j] -= 1e-5;
      const Vector above = gradient_of(problem, up), below = gradient_of(problem, down);
      for (std::size_t i = 0; i < size; ++i) hessian(i, j) = (above[i] - below[i]) / 2e-5;
    }
    const Eigen::VectorXd step =
        hessian.ldlt().solve(Eigen::Map<const Eigen::VectorXd>(gradient.data(), Eigen::Index(size)));
    for (std::size_t i = 0; i < size; ++i) w[i] -= step(Eigen::Index(i));
  }
  return w;
}

TEST(Minimise, FindsNewtonsMinimum) {
  for (const GlmLoss loss : kSmooth) {
    Bench bench(loss);
    const Vector linear = random_weights(bench.parameters(), 3, bench.random);
    const RidgeProblem problem{
        .objective = *bench.objective, .batch = bench.batch, .ridge = 0.05, .linear = linear};
    Vector w(bench.parameters(), 99.0);
    minimise(problem, 50, 1e-9, w);
    EXPECT_LE(length(gradient_of(problem, w)), 1e-9);
    if (loss != GlmLoss::huber) expect_near(w, newton(problem), 1e-6);
  }
}

TEST(Minimise, RefusesWhatHasNoMinimumItCouldPromise) {
  Bench bench(GlmLoss::logistic);
  Vector w(bench.parameters());
  EXPECT_THROW(minimise({.objective = *bench.objective, .batch = bench.batch, .ridge = 0}, 1, 1e-6, w),
               InputError);
  EXPECT_THROW(minimise({.objective = *bench.objective, .batch = bench.batch}, 1, 0, w), InputError);
}

// What L-BFGS leaves undone: ill-conditioned on purpose.
TEST(Accelerated, ReachesAnyToleranceByItself) {
  const Vector curvatures = {1e-4, 0.03, 1};
  const auto gradient = [&](std::span<const double> w, std::span<double> out) {
    for (std::size_t i = 0; i < 3; ++i) out[i] = curvatures[i] * (w[i] - 5);
    return length(Vector(out.begin(), out.end()));
  };
  Vector w(3, 0.0);
  minimise_accelerated(gradient, {.strong = 1e-4, .smooth = 1}, 1e-10, w);
  expect_near(w, Vector(3, 5.0), 1e-6);
  EXPECT_THROW(minimise_accelerated(gradient, {.strong = 1e-4, .smooth = 1}, -1, w), InternalError);
}

TEST(NonPrivate, IsTheMinimumOverAllRows) {
  for (const GlmLoss loss : kSmooth) {
    Bench bench(loss, kRows);
    const Vector w = fit_without_privacy(*bench.objective, {.ridge = 0.01});
    const RidgeProblem problem{.objective = *bench.objective, .batch = bench.batch, .ridge = 0.01};
    EXPECT_LE(length(gradient_of(problem, w)), 1e-7);
    if (loss != GlmLoss::huber) expect_near(w, newton(problem), 1e-5);
  }
}

// The hinge has no gradient at its minimum; what comes out is still far better than nothing.
TEST(NonPrivate, TakesAHingeAsItIs) {
  Bench bench(GlmLoss::hinge, kRows);
  const RidgeProblem problem{.objective = *bench.objective, .batch = bench.batch, .ridge = 0.01};
  const Vector w = fit_without_privacy(*bench.objective, {.ridge = 0.01});
  EXPECT_LT(value(problem, w), value(problem, Vector(w.size(), 0.0)));
}

TEST(NonPrivate, OfNothingIsZero) {
  const auto empty = glm(GlmLoss::logistic, store(Storage::dense, 2, {}, {}));
  EXPECT_EQ(fit_without_privacy(*empty, {}), Vector(2, 0.0));
  const auto flat = glm(GlmLoss::logistic, store(Storage::dense, 0, {}, {1, 0}));
  EXPECT_EQ(fit_without_privacy(*flat, {}), Vector());
  EXPECT_THROW(fit_without_privacy(*empty, {.ridge = -1}), InputError);
  EXPECT_THROW(fit_without_privacy(*empty, {.tolerance = 0}), InputError);
  EXPECT_THROW(fit_without_privacy(*empty, {.most_evaluations = 0}), InputError);
}

}  // namespace
}  // namespace ration::testing
