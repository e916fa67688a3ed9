#pragma once

#include <functional>
#include <span>

namespace ration {

// value = f(w), with its gradient.
using Differentiable = std::function<double(std::span<const double> w, std::span<double> gradient)>;

// NLopt's L-BFGS from w on, until the gradient's norm is at most `tolerance`, `most_evaluations` are done or
// no progress is left to make; w becomes the point with the shortest gradient seen. Returns that gradient's
// norm.
double minimise_lbfgs(const Differentiable& f, double tolerance, int most_evaluations, std::span<double> w);

}  // namespace ration
