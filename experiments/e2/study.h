#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "mnist35.h"
#include "ration/objectives/objective.h"

namespace ration::e2 {

// One learning task of the experiment.
enum class Task { squared, squared_momentum, logistic, net };
std::string to_string(Task task);

struct StudyOptions {
  std::vector<std::size_t> search = {1, 2, 3, 5, 7, 10, 14, 20, 25, 30, 40, 50, 60, 70, 80, 90, 100};  // T
  std::size_t search_repeats = 20;
  std::size_t repeats = 100;  // of the figures: other seeds than those of the search
  std::size_t retraining_steps = 16;
  std::size_t retraining_runs = 4;
};

// The losses of one schedule, seed by seed.
struct Measured {
  std::size_t steps = 0;
  std::vector<double> losses;
};

struct ScheduleResult {
  std::map<std::size_t, std::vector<double>> searched;  // T -> losses, seeds 1, 2, ...
  Measured best;                                        // at the T that did best in the search
  Measured longest;                                     // at the largest T
};

// A task at a data scale: all schedules on the same private rows.
struct Cell {
  Task task = Task::squared;
  double scale = 10;
  double smallest_loss = 0;  // that any weights reach on the private rows, without privacy; 0 if unknown
  std::map<std::string, std::vector<double>> influence;  // by the way it was estimated, at the largest T
  std::map<std::string, double> gamma;                   // of the exponential fits
  std::map<std::string, ScheduleResult> schedules;       // uni, dyn, exp, ...
};

Cell study(const Mnist35& images, Task task, double scale, const StudyOptions& options);

}  // namespace ration::e2
