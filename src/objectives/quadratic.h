#pragma once

#include <array>
#include <memory>
#include <vector>

#include "ration/objectives/objective.h"

namespace ration {

// l_i(w) = |W_i w - y_i|^2 in two dimensions, one row being (W_i, y_i): the problem on which optimisers can
// be seen at work. [L2P, App. C.1]
struct QuadraticTerm {
  std::array<double, 4> matrix;  // row after row
  std::array<double, 2> target;
};

// Rows are taken one by one, on one thread: for a few thousand at most.
std::unique_ptr<Objective> make_quadratics(std::vector<QuadraticTerm> terms);

}  // namespace ration
