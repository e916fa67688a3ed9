#include "baselines/output_perturbation.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "baselines/one_release.h"
#include "objectives/fit_sensitivity.h"
#include "ration/clipping/sensitivity.h"

namespace ration {
namespace {

constexpr const char* kWhere = "output perturbation";
constexpr std::uint64_t kPasses = 10;

FitScale scale_of(const OutputPerturbationOptions& options, const PublicFacts& facts) {
  return {
      .lipschitz = facts.slope_bound * options.row_norm,
      .smoothness = facts.curvature_bound * options.row_norm * options.row_norm,
      .ridge = options.ridge,
      .relation = options.fit == OutputFit::gradient_descent ? Relation::add_remove : Relation::replace_one};
}

// How far to descend, as the sum of all step sizes: what one more step gains against what its noise costs, c
// / B times (B rows / (L noise sqrt(parameters)))^(2/3) [ZhangZMW17, convex case, with noise_multiplier for
// sqrt(log(1/delta)) / epsilon]. The theorem leaves c open, as it depends on the length of the optimum; 16
// was chosen on generated tables.
double descent_length(const OutputPerturbationOptions& options, const FitScale& scale, double rows,
                      std::size_t parameters) {
  constexpr double kFactor = 16;
  const double change = gradient_sum_sensitivity(scale.lipschitz, scale.relation);
  const double noise = change * options.noise_multiplier * std::sqrt(static_cast<double>(parameters));
  return kFactor / scale.smoothness * std::cbrt(std::pow(scale.smoothness * rows / noise, 2));
}

DescentFit descent_of(const OutputPerturbationOptions& options, const FitScale& scale, double length) {
  constexpr double kMostSteps = 200;
  const double size = options.step_size > 0 ? options.step_size : largest_step(scale);
  const auto steps = static_cast<std::uint64_t>(std::clamp(std::round(length / size), 1.0, kMostSteps));
  return {.steps = options.steps > 0 ? options.steps : steps, .step_size = size};
}

// An average over a pass has gone half the way of its last iterate.
PassesFit passes_of(const OutputPerturbationOptions& options, const FitScale& scale, double rows,
                    double length) {
  const bool averages = options.fit == OutputFit::pass_averages;
  PassesFit fit{.passes = options.passes > 0 ? options.passes : kPasses,
                .batch = options.batch,
                .step_size = options.step_size,
                .result = averages ? PassesFit::Result::pass_averages : PassesFit::Result::last};
  if (fit.step_size > 0) return fit;
  const double steps = static_cast<double>(fit.passes) *
                       static_cast<double>(fit.steps_per_pass(static_cast<std::uint64_t>(rows)));
  fit.step_size = std::min(largest_step(scale), (averages ? 2 : 1) * length / std::max(1.0, steps));
  return fit;
}

class OutputPerturbation final : public OneRelease {
 public:
  OutputPerturbation(const OutputPerturbationOptions& options, std::size_t parameters)
      : OneRelease(parameters), options_(options) {
    require(kWhere, "noise_multiplier", options.noise_multiplier, greater_than(0));
    require(kWhere, "ridge", options.ridge, at_least(0));
    require(kWhere, "row_norm", options.row_norm, greater_than(0));
    require(kWhere, "step_size", options.step_size, at_least(0));
    require(kWhere, "batch", static_cast<double>(options.batch), at_least(1));
  }

 private:
  bool release(PrivateOracle& oracle, std::span<double> w, StepReport& report) override {
    const OutputQuery query =
        output_perturbation_query(options_, oracle.facts(), oracle.divisor(), oracle.parameters());
    if (!oracle.perturbed_fit(query, w)) return false;
    report.learning_rate = std::visit([](const auto& fit) { return fit.step_size; }, query.fit);
    report.noise_stddev = oracle.perturbed_fit_stddev(query);
    return true;
  }

  OutputPerturbationOptions options_;
};

}  // namespace

// A loss that is not covered is the oracle's to refuse, so whatever comes out of it here will do.
OutputQuery output_perturbation_query(const OutputPerturbationOptions& options, const PublicFacts& facts,
                                      double rows, std::size_t parameters) {
  OutputQuery query{
      .ridge = options.ridge, .row_norm = options.row_norm, .noise_multiplier = options.noise_multiplier};
  if (!std::isfinite(facts.slope_bound) || !std::isfinite(facts.curvature_bound)) return query;
  const FitScale scale = scale_of(options, facts);
  const double length = descent_length(options, scale, rows, parameters);
  if (options.fit == OutputFit::gradient_descent) {
    query.fit = descent_of(options, scale, length);
  } else {
    query.fit = passes_of(options, scale, rows, length);
  }
  return query;
}

std::unique_ptr<Method> make_output_perturbation(const OutputPerturbationOptions& options,
                                                 std::size_t parameters) {
  return std::make_unique<OutputPerturbation>(options, parameters);
}

Event output_perturbation_event(double noise_multiplier) {
  return OutputQuery{.noise_multiplier = noise_multiplier}.event();
}

}  // namespace ration
