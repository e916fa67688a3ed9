#pragma once

#include <string>
#include <vector>

#include "private_run.h"

namespace ration::e5 {

// One method on the quadratics: on one problem over and over, and on as many problems once each.
struct QuadraticRow {
  std::string method;
  std::string setting;                                    // what was chosen for it
  std::vector<double> losses{};                           // at the end, of the one problem
  std::vector<double> losses_elsewhere{};                 // at the end, of the others
  std::vector<std::vector<std::vector<double>>> paths{};  // of the one problem
  double spent = 0, steps = 0;                            // means
};

struct QuadraticStudy {
  double epsilon = 0.05;
  std::vector<QuadraticRow> rows{};
  double training_seconds = 0;
};

// 60 terms in two dimensions. [L2P, App. C.1]
QuadraticStudy study_quadratics(double epsilon, std::size_t repeats, std::size_t threads);

// The one problem on which all methods are run over and over.
struct TestProblem {
  std::vector<double> start, optimum;
  std::vector<double> hessian;  // of the mean loss, row after row
  double start_loss = 0, least_loss = 0;
};
TestProblem test_problem();

// Leaves quadratics.csv, every run, and quadratic-paths.csv, where the first runs went.
void write_quadratics(const std::string& folder, std::size_t threads);

// Ten trainings of each protector, on 2,000 problems with the same noise; leaves quadratic-trainings.csv, a
// line for each training. Beside them the loss at the family's minimum, where somebody would stand who
// releases nothing.
void write_quadratic_trainings(const std::string& folder, std::size_t threads);

}  // namespace ration::e5
