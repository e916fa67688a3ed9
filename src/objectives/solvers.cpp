#include "objectives/solvers.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/check.h"
#include "base/distributions.h"
#include "objectives/accelerated.h"
#include "objectives/lbfgs.h"

namespace ration {
namespace {

constexpr double kNoBound = 1e200;

double dot(std::span<const double> a, std::span<const double> b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

double length(std::span<const double> vector) {
  return std::sqrt(dot(vector, vector));
}

// gradient = sum over the rows of `batch` / divisor + ridge * w.
void batch_gradient(const RidgeProblem& problem, const Batch& batch, double divisor,
                    std::span<const double> w, std::span<double> gradient) {
  problem.objective.clipped_gradient_sum(w, batch, Abadi{.R = problem.most_per_row}, gradient);
  for (std::size_t i = 0; i < w.size(); ++i) gradient[i] = gradient[i] / divisor + problem.ridge * w[i];
}

void step(double size, std::span<const double> gradient, std::span<double> w) {
  for (std::size_t i = 0; i < w.size(); ++i) w[i] -= size * gradient[i];
}

void descend(const RidgeProblem& problem, const DescentFit& fit, std::span<double> w) {
  std::vector<double> gradient(w.size());
  for (std::uint64_t t = 0; t < fit.steps; ++t) {
    batch_gradient(problem, problem.batch, problem.batch.divisor, w, gradient);
    step(fit.step_size, gradient, w);
  }
}

// The rows in random order [Knuth97, Alg. 3.4.2P], cut into batches, each in increasing order.
std::vector<Batch> permuted_batches(const std::vector<std::uint64_t>& rows, std::uint64_t size,
                                    RandomSource& random) {
  std::vector<std::uint64_t> order = rows;
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[uniform_below(random, i)]);
  std::vector<Batch> batches;
  for (std::size_t first = 0; first < order.size(); first += size) {
    const std::size_t end = first + std::min<std::size_t>(size, order.size() - first);
    Batch& batch = batches.emplace_back();
    batch.rows.assign(order.begin() + static_cast<std::ptrdiff_t>(first),
                      order.begin() + static_cast<std::ptrdiff_t>(end));
    std::sort(batch.rows.begin(), batch.rows.end());
  }
  return batches;
}

// One pass; adds every iterate to `sum`.
void pass_over(const RidgeProblem& problem, const PassesFit& fit, std::span<const Batch> batches,
               bool reversed, std::span<double> w, std::span<double> sum) {
  std::vector<double> gradient(w.size());
  for (std::size_t b = 0; b < batches.size(); ++b) {
    const Batch& batch = batches[reversed ? batches.size() - 1 - b : b];
    batch_gradient(problem, batch, static_cast<double>(fit.batch), w, gradient);
    step(fit.step_size, gradient, w);
    for (std::size_t i = 0; i < w.size(); ++i) sum[i] += w[i];
  }
}

void descend(const RidgeProblem& problem, const PassesFit& fit, RandomSource& random, std::span<double> w) {
  const std::vector<Batch> batches = permuted_batches(problem.batch.rows, fit.batch, random);
  if (batches.empty()) return;
  const bool averages = fit.result == PassesFit::Result::pass_averages;
  std::vector<double> sum(w.size());
  for (std::uint64_t pass = 0; pass < fit.passes; ++pass) {
    std::fill(sum.begin(), sum.end(), 0.0);
    pass_over(problem, fit, batches, averages && pass % 2 == 1, w, sum);
    if (!averages) continue;
    for (std::size_t i = 0; i < w.size(); ++i) w[i] = sum[i] / static_cast<double>(batches.size());
  }
}

double ridge_value(const RidgeProblem& problem, std::span<const double> w) {
  const Objective::Parameters candidate = w;
  double sum = 0;
  problem.objective.clipped_loss_sums({&candidate, 1}, problem.batch, kNoBound, {&sum, 1});
  if (!problem.linear.empty()) sum += dot(problem.linear, w);
  return sum / problem.batch.divisor + 0.5 * problem.ridge * dot(w, w);
}

Differentiable as_function(const RidgeProblem& problem) {
  return [&problem](std::span<const double> w, std::span<double> gradient) {
    ridge_gradient(problem, w, gradient);
    return ridge_value(problem, w);
  };
}

}  // namespace

double ridge_gradient(const RidgeProblem& problem, std::span<const double> w, std::span<double> gradient) {
  batch_gradient(problem, problem.batch, problem.batch.divisor, w, gradient);
  for (std::size_t i = 0; i < problem.linear.size(); ++i)
    gradient[i] += problem.linear[i] / problem.batch.divisor;
  return length(gradient);
}

void run_fit(const RidgeProblem& problem, const AnyFit& fit, RandomSource& random, std::span<double> w) {
  std::fill(w.begin(), w.end(), 0.0);
  if (const auto* descent = std::get_if<DescentFit>(&fit)) return descend(problem, *descent, w);
  descend(problem, std::get<PassesFit>(fit), random, w);
}

void minimise(const RidgeProblem& problem, double smoothness, double tolerance, std::span<double> w) {
  require("minimise", "ridge", problem.ridge, greater_than(0));
  require("minimise", "tolerance", tolerance, greater_than(0));
  constexpr int kMostEvaluations = 1000;
  std::fill(w.begin(), w.end(), 0.0);
  if (minimise_lbfgs(as_function(problem), tolerance, kMostEvaluations, w) <= tolerance) return;
  const auto gradient = [&](std::span<const double> point, std::span<double> slope) {
    return ridge_gradient(problem, point, slope);
  };
  minimise_accelerated(gradient, {.strong = problem.ridge, .smooth = smoothness}, tolerance, w);
}

std::vector<double> fit_without_privacy(Objective& objective, const NonPrivateOptions& options) {
  require("fit without privacy", "ridge", options.ridge, at_least(0));
  require("fit without privacy", "tolerance", options.tolerance, greater_than(0));
  require("fit without privacy", "most_evaluations", options.most_evaluations, at_least(1));
  Batch all;
  all.rows.resize(objective.rows());
  std::iota(all.rows.begin(), all.rows.end(), std::uint64_t{0});
  all.divisor = std::max(1.0, static_cast<double>(objective.rows()));
  std::vector<double> w(objective.parameters(), 0.0);
  const RidgeProblem problem{.objective = objective, .batch = all, .ridge = options.ridge};
  minimise_lbfgs(as_function(problem), options.tolerance, options.most_evaluations, w);
  return w;
}

}  // namespace ration
