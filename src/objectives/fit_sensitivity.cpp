#include "objectives/fit_sensitivity.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "ration/base/error.h"
#include "ration/clipping/sensitivity.h"

namespace ration {
namespace {

constexpr double kUnitRoundoff = 0x1p-53;
constexpr double kUpward = 1 + 1e-12;  // what the formulas below lose

// 1 + k + ... + k^(count - 1), k = 1 - shrink.
double geometric_sum(double shrink, double count) {
  return shrink == 0 ? count : -std::expm1(count * std::log1p(-shrink)) / shrink;
}

double power(double shrink, double exponent) {
  return std::exp(exponent * std::log1p(-shrink));
}

void require_step(const FitScale& scale, double size) {
  const double largest = largest_step(scale);
  if (size > 0 && size <= largest) return;
  throw InputError(
      fmt::format("output perturbation: expected 0 < step_size <= 1 / (smoothness + ridge) = {}, got "
                  "step_size={}; a longer step "
                  "need not contract, and nothing bounds the sensitivity",
                  show(largest), show(size)));
}

// What rounding does to one step, as an error of its gradient, on two neighbours.
double step_error(const FitScale& scale, double gradient_error, double size, double largest_w) {
  const double update =
      4 * kUnitRoundoff * (largest_w / size + 2 * scale.lipschitz + scale.ridge * largest_w);
  return 2 * (gradient_error + update);
}

double sensitivity_of(const DescentFit& fit, const FitScale& scale) {
  require("output perturbation", "steps", static_cast<double>(fit.steps), at_least(1));
  require_step(scale, fit.step_size);
  const double reach =
      fit.step_size * geometric_sum(fit.step_size * scale.ridge, static_cast<double>(fit.steps));
  const double largest_w = 2 * scale.lipschitz * reach;
  const double change = gradient_sum_sensitivity(scale.lipschitz, scale.relation) / scale.divisor;
  return reach * (change + step_error(scale, gradient_error(scale, largest_w), fit.step_size, largest_w));
}

// After all passes, for the row in the batch at `place`, per unit of g.
double growth_at(const PassesFit& fit, double shrink, double steps, double place) {
  const bool averages = fit.result == PassesFit::Result::pass_averages;
  const double kept = averages ? (1 - shrink) * geometric_sum(shrink, steps) / steps : power(shrink, steps);
  double distance = 0;
  for (std::uint64_t pass = 0; pass < fit.passes; ++pass) {
    const double here = averages && pass % 2 == 1 ? steps - 1 - place : place;
    distance = kept * distance +
               (averages ? geometric_sum(shrink, steps - here) / steps : power(shrink, steps - 1 - here));
  }
  return distance;
}

double sensitivity_of(const PassesFit& fit, const FitScale& scale) {
  require("output perturbation", "passes", static_cast<double>(fit.passes), at_least(1));
  require("output perturbation", "batch", static_cast<double>(fit.batch), at_least(1));
  require_step(scale, fit.step_size);
  if (scale.relation != Relation::replace_one) {
    throw InputError(
        "output perturbation: passes over permuted rows have a proven sensitivity under relation replace_one "
        "only, "
        "where the number of steps is public; use replace_one, or full gradient descent");
  }
  const auto steps = static_cast<double>(fit.steps_per_pass(static_cast<std::uint64_t>(scale.divisor)));
  const double shrink = fit.step_size * scale.ridge;
  double growth = 0;
  for (double place = 0; place < steps; ++place) {
    growth = std::max(growth, growth_at(fit, shrink, steps, place));
  }
  const double all_steps = steps * static_cast<double>(fit.passes);
  const double reach = fit.step_size * geometric_sum(shrink, all_steps);
  const double largest_w = scale.lipschitz * reach;
  const double averaging = 2 * static_cast<double>(fit.passes) * (steps + 2) * kUnitRoundoff * largest_w;
  return growth * 2 * fit.step_size * scale.lipschitz / static_cast<double>(fit.batch) + averaging +
         reach * step_error(scale, gradient_error(scale, largest_w), fit.step_size, largest_w);
}

}  // namespace

double largest_step(const FitScale& scale) {
  return 1 / (scale.smoothness + scale.ridge);
}

// Of each of up to 2m rows: the product <w, x>, of up to `parameters` terms, times the curvature; the loss's
// own few roundings; those of the sum.
double gradient_error(const FitScale& scale, double largest_w) {
  const double product = scale.smoothness * static_cast<double>(scale.parameters + 2) * largest_w;
  const double sum = static_cast<double>(scale.longest_chain + 16) * scale.lipschitz;
  return 2 * 2 * kUnitRoundoff * (product + sum);
}

double fit_sensitivity(const AnyFit& fit, const FitScale& scale) {
  require("output perturbation", "ridge", scale.ridge, at_least(0));
  require("output perturbation", "divisor", scale.divisor, greater_than(0));
  return kUpward * std::visit([&](const auto& one) { return sensitivity_of(one, scale); }, fit);
}

}  // namespace ration
