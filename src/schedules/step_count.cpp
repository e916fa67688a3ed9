#include "schedules/step_count.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace ration {
namespace {

constexpr double kMostSteps = 1e9;

void require_sound(const RiskConstants& constants) {
  require("risk bound", "gamma", constants.gamma, greater_than(0).less_than(1));
  require("risk bound", "alpha", constants.alpha, greater_than(0));
}

std::int64_t to_steps(double steps) {
  return static_cast<std::int64_t>(std::clamp(steps, 1.0, kMostSteps));
}

// The bound falls and then rises; ternary search for its lowest integer.
template <class Bound>
std::int64_t lowest(const Bound& bound, std::int64_t most) {
  std::int64_t low = 1;
  std::int64_t high = most;
  while (high - low > 2) {
    const std::int64_t left = low + (high - low) / 3;
    const std::int64_t right = high - (high - low) / 3;
    if (bound(left) <= bound(right)) {
      high = right;
    } else {
      low = left;
    }
  }
  std::int64_t best = low;
  for (std::int64_t t = low + 1; t <= high; ++t) {
    if (bound(t) < bound(best)) best = t;
  }
  return best;
}

}  // namespace

double risk_alpha(const Problem& problem) {
  for (const double value : {problem.parameters, problem.gradient_bound, problem.budget, problem.smoothness,
                             problem.rows, problem.initial_error}) {
    require("risk bound", "each constant", value, greater_than(0));
  }
  return problem.parameters * problem.gradient_bound * problem.gradient_bound /
         (2 * problem.budget * problem.smoothness * problem.rows * problem.rows * problem.initial_error);
}

double excess_risk_bound(const RiskConstants& constants, std::span<const double> noise) {
  require_sound(constants);
  double cost = 0;
  double weighted = 0;
  for (const double s : noise) {
    require("risk bound", "noise", s, greater_than(0));
    cost += 1 / (s * s);
    weighted = weighted * constants.gamma + s * s;
  }
  return std::pow(constants.gamma, static_cast<double>(noise.size())) + constants.alpha * cost * weighted;
}

double uniform_risk_bound(const RiskConstants& constants, double steps) {
  require_sound(constants);
  const double left = std::pow(constants.gamma, steps);
  return left + constants.alpha * steps * (1 - left) / (1 - constants.gamma);
}

double dynamic_risk_bound(const RiskConstants& constants, double steps) {
  require_sound(constants);
  const double root = std::sqrt(constants.gamma);
  const double sum = (1 - std::pow(root, steps)) / (1 - root);
  return std::pow(constants.gamma, steps) + constants.alpha * sum * sum;
}

// Beyond the paper's number of steps the bound only rises, so the search ends there.
std::int64_t uniform_steps(const RiskConstants& constants) {
  return lowest([&](std::int64_t t) { return uniform_risk_bound(constants, static_cast<double>(t)); },
                paper_uniform_steps(constants) + 1);
}

std::int64_t dynamic_steps(const RiskConstants& constants) {
  require_sound(constants);
  const double gap = 1 - std::sqrt(constants.gamma);
  const double exact =
      2 * std::log(constants.alpha / (constants.alpha + gap * gap)) / std::log(constants.gamma);
  const std::int64_t below = to_steps(std::floor(exact));
  const std::int64_t above = to_steps(std::ceil(exact));
  const auto bound = [&](std::int64_t t) { return dynamic_risk_bound(constants, static_cast<double>(t)); };
  return bound(above) < bound(below) ? above : below;
}

std::int64_t paper_uniform_steps(const RiskConstants& constants) {
  require_sound(constants);
  const double decay = -std::log(constants.gamma);
  return to_steps(std::ceil(std::log1p(decay / constants.alpha) / decay));
}

}  // namespace ration
