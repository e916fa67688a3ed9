#pragma once

#include <functional>
#include <span>

namespace ration {

// gradient = that of a function at w; returns its norm.
using GradientFunction = std::function<double(std::span<const double> w, std::span<double> gradient)>;

struct Convexity {
  double strong = 1;  // > 0: the function is at least that strongly convex
  double smooth = 1;  // >= strong: the Lipschitz constant of its gradient
};

// Accelerated gradient descent from w on until the gradient's norm is at most `tolerance`. The distance to
// the minimum falls by 1 - sqrt(strong / smooth) per step whatever the function, so unlike L-BFGS it cannot
// get stuck [Nesterov04, Sec. 2.2]. InternalError if the tolerance is below what rounding allows.
void minimise_accelerated(const GradientFunction& gradient, const Convexity& convexity, double tolerance,
                          std::span<double> w);

}  // namespace ration
