#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "methods/method.h"
#include "ration/sampling/full.h"
#include "ration/sampling/poisson.h"
#include "support/doubles.h"
#include "support/recording.h"

namespace ration::testing {

using Vector = std::vector<double>;

// NOT an objective of any rows: says the gradients and the losses along a line that it was told to say, and
// writes down what it was asked. With budgets so large that the noise is nothing, a test decides what a
// method sees.
class ScriptedObjective final : public Objective {
 public:
  explicit ScriptedObjective(std::size_t parameters) : parameters_(parameters) {}

  std::deque<Vector> gradients;  // sums; the last one for ever
  std::deque<std::optional<std::size_t>>
      best_points;                          // of each line, the start not counted; the last one for ever
  std::function<double(double step)> loss;  // instead of best_points
  bool start_counts = false;                // the start is one of the points

  std::vector<double> clip_bounds, loss_bounds;
  std::vector<Vector> lines, starts, directions;

  std::size_t rows() const override { return 1; }
  std::size_t parameters() const override { return parameters_; }
  std::uint64_t longest_chain(std::uint64_t) const override { return 0; }
  void clipped_gradient_sum(Parameters w, const Batch&, const AnyClipRule& rule,
                            std::span<double> sum) override {
    clip_bounds.push_back(rule.bound());
    starts.emplace_back(w.begin(), w.end());
    const Vector next = take(gradients);
    std::copy(next.begin(), next.end(), sum.begin());
  }
  void clipped_loss_sums(std::span<const Parameters>, const Batch&, double, std::span<double>) override {}
  void clipped_loss_sums_along(const Line& line, const Batch&, double bound,
                               std::span<double> sums) override {
    loss_bounds.push_back(bound);
    lines.emplace_back(line.steps.begin(), line.steps.end());
    directions.emplace_back(line.direction.begin(), line.direction.end());
    const auto best = loss ? std::nullopt : take(best_points);
    for (std::size_t k = 0; k < sums.size(); ++k) {
      const bool is_start = !start_counts && k == 0;
      const std::size_t point = start_counts ? k : k - 1;
      sums[k] = loss ? loss(line.steps[k]) : is_start ? 0 : best == point ? -1e6 : 1e6;
    }
  }
  std::uint64_t count_norms_at_most(Parameters, const Batch&, double) override { return 0; }
  double mean_loss(Parameters) override { return 0; }
  void predict(Parameters, std::span<double>) override {}

 private:
  template <class T>
  static T take(std::deque<T>& script) {
    T next = script.front();
    if (script.size() > 1) script.pop_front();
    return next;
  }
  std::size_t parameters_;
};

// A scripted objective behind an oracle whose means are sums over kDivisor.
struct ScriptedDoor {
  static constexpr double kDivisor = 4;

  explicit ScriptedDoor(std::size_t parameters, std::size_t grants = 1'000'000)
      : objective(parameters), filter(grants, journal), oracle(objective, sampler, filter, random) {}

  Journal journal;
  ScriptedObjective objective;
  FullSampler sampler{{.rows = 1, .declared_rows = kDivisor}, Relation::add_remove};
  RecordingFilter filter;
  SeededRandom random{5};
  PrivateOracle oracle;
};

inline Vector weights_of(const Method& method, std::size_t parameters) {
  Vector weights(parameters, 0.0);
  method.weights(weights);
  return weights;
}

inline void expect_near(const Vector& actual, const Vector& expected, double tolerance = 1e-5) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) EXPECT_NEAR(actual[i], expected[i], tolerance) << i;
}

}  // namespace ration::testing
