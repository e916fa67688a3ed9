#pragma once

#include <string>
#include <vector>

#include "private_run.h"

namespace ration::e5 {

// One method on the quadratics: on one problem over and over, and on as many problems once each.
struct QuadraticRow {
  std::string method;
  std::string setting;                     // what was chosen for it
  std::vector<double> losses{};              // at the end, of the one problem
  std::vector<double> losses_elsewhere{};    // at the end, of the others
  std::vector<std::vector<std::vector<double>>> paths{};  // of the one problem
  double spent = 0, steps = 0;             // means
};

struct QuadraticStudy {
  double epsilon = 0.05;
  std::vector<QuadraticRow> rows{};
  double start_loss = 0, best_loss = 0;  // of the one problem
  double start_elsewhere = 0, best_elsewhere = 0;
  std::vector<double> start{}, optimum{};
  std::vector<double> hessian{};  // of the one problem's mean loss: 2 x 2
  double training_seconds = 0;
};

// 60 terms in two dimensions. [L2P, App. C.1]
QuadraticStudy study_quadratics(double epsilon, std::size_t repeats, std::size_t threads);

}  // namespace ration::e5
