#include "privacy/zcdp_cost.h"

#include "privacy/search_curve.h"

namespace ration {
namespace {

double zcdp_of(const Event& mechanism) {
  const auto pure = [](double epsilon) { return 0.5 * epsilon * epsilon; };  // [BunSteinke16, Prop. 1.4]
  return visit(
      mechanism, [](const Event::Gaussian& e) { return 0.5 / (e.noise_multiplier * e.noise_multiplier); },
      [](const Event::DiscreteGaussian& e) { return 0.5 / (e.noise_multiplier * e.noise_multiplier); },
      [&](const Event::Laplace& e) { return pure(1 / e.scale); },
      [&](const Event::PureDp& e) { return pure(e.epsilon); },
      [&](const Event::NoisyMax& e) { return pure(e.epsilon); },
      [](const Event::BoundedRange& e) { return e.epsilon * e.epsilon / 8; },
      [&](const Event::AboveThresholdLaplace& e) { return pure(e.threshold_epsilon + 2 * e.query_epsilon); },
      [](const Event::AboveThresholdGaussian& e) {
        return gaussian_search_curve(e.threshold_noise, e.query_noise, e.queries)->zcdp_rho();
      },
      [](const auto&) { return 0.0; });
}

}  // namespace

double zcdp_cost(const Step& step) {
  double rho = 0;
  for (const auto& [mechanism, count] : step.mechanisms)
    rho += static_cast<double>(count) * zcdp_of(mechanism);
  return rho;
}

}  // namespace ration
