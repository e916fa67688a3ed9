#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compare/comparison.h"

namespace ration::compare {

// One training of a comparison. The members are places in the comparison's lists.
struct Job {
  std::size_t data = 0;
  std::size_t model = 0;
  std::size_t method = 0;
  std::optional<std::size_t> epsilon{};  // none if the method does not depend on it
  std::size_t repeat = 0;
  std::size_t fold = 0;

  bool operator==(const Job&) const = default;
};

// In the order in which they are run: all folds of the first repeat before the second, so that a comparison
// that was stopped is complete for a number of repeats; and all jobs of a fold in a row, so that they share
// its rows.
std::vector<Job> jobs_of(const Comparison& comparison);

// What identifies a job in files: names, and repeat and fold counted from 1.
struct RunName {
  std::string data;
  std::string model;
  std::string method;
  std::optional<double> epsilon{};
  std::size_t repeat = 1;
  std::size_t fold = 1;

  auto operator<=>(const RunName&) const = default;
};
RunName name_of(const Job& job, const Comparison& comparison);

// A finished job. What it measures is exact, not private; what a model has not, or test rows do not allow, is
// nothing (train/model.h, Evaluation).
struct Run {
  RunName name;
  std::optional<double> accuracy{};  // on the fold's test rows, as all to the loss
  std::optional<double> auc{};
  std::optional<double> log_loss{};
  std::optional<double> r2{};
  std::optional<double> mean_absolute_error{};
  double loss = 0;       // mean
  double objective = 0;  // mean loss on the training rows
  double seconds = 0;    // processor time of the training, without finding the noise
  std::int64_t steps = 0;
  // Of a private method:
  std::optional<double> epsilon_spent{};
  std::optional<double> noise_multiplier{};
  std::string accountant{};
  std::string relation{};
  std::string refused{};  // why the plan cannot be run; then all figures are 0 or nothing
};

// A method's way through its first fold, at most some hundred points.
struct TracePoint {
  std::int64_t step = 0;
  double budget_share = 0;  // 0 to 1
  double learning_rate = 0;
  double noise = 0;  // standard deviation of each coordinate of the mean gradient
};
struct Trace {
  RunName name;
  std::vector<TracePoint> points;
};

}  // namespace ration::compare
