#pragma once

#include <array>
#include <cstddef>
#include <random>
#include <span>
#include <vector>

#include "steps/step_rule.h"

namespace ration::testing {

inline constexpr std::array kEveryKind = {
    StepKind::sgd,   StepKind::heavy_ball, StepKind::momentum, StepKind::nesterov, StepKind::adam,
    StepKind::adamw, StepKind::nadam,      StepKind::adagrad,  StepKind::rmsprop,  StepKind::adadelta};
inline constexpr std::array kAdamFamily = {StepKind::adam, StepKind::adamw, StepKind::nadam};

using Vectors = std::vector<std::vector<double>>;

// Gaussian gradients with mean `mean`, one row per step.
inline Vectors gaussian_gradients(std::size_t steps, std::size_t parameters, double stddev = 1,
                                  double mean = 0, unsigned seed = 3) {
  std::mt19937_64 engine(seed);
  std::normal_distribution<double> normal(mean, stddev);
  Vectors gradients(steps, std::vector<double>(parameters));
  for (auto& gradient : gradients) {
    for (double& g : gradient) g = normal(engine);
  }
  return gradients;
}

// w after every step; step t has learning rate `rate_of(t)` and noise `noise_of(t)`, t = 1, 2, ...
template <class Number = double, class RateOf, class NoiseOf>
Vectors run(StepRule& rule, std::span<const std::vector<double>> gradients, const std::vector<double>& start,
            RateOf rate_of, NoiseOf noise_of) {
  Vectors iterates;
  std::vector<Number> w(start.begin(), start.end());
  for (std::size_t t = 1; t <= gradients.size(); ++t) {
    rule.step({.value = gradients[t - 1], .noise_stddev = noise_of(t)}, rate_of(t), w);
    iterates.emplace_back(w.begin(), w.end());
  }
  return iterates;
}

inline Vectors run(const StepOptions& options, std::span<const std::vector<double>> gradients,
                   const std::vector<double>& start, double rate, double noise_stddev = 0) {
  const auto rule = make_step_rule(options, start.size());
  const auto rate_of = [=](std::size_t) { return rate; };
  const auto noise_of = [=](std::size_t) { return noise_stddev; };
  return options.in_floats ? run<float>(*rule, gradients, start, rate_of, noise_of)
                           : run(*rule, gradients, start, rate_of, noise_of);
}

}  // namespace ration::testing
