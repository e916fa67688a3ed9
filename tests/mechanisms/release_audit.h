#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "mechanisms/laws.h"

namespace ration::testing {

// delta(epsilon) of the Gaussian mechanism. [Balle18, Thm 8]
inline double gaussian_delta(double noise_multiplier, double epsilon) {
  const double mu = 1.0 / noise_multiplier;
  return normal_cdf(mu / 2 - epsilon / mu) - std::exp(epsilon) * normal_cdf(-mu / 2 - epsilon / mu);
}

// Runs `release` on two neighbouring values and estimates delta at `epsilon` as the worst over all events
// "the output exceeds cut"; for noise with a monotone likelihood ratio these are the worst events there are.
// With probability 1 - 1e-9 no estimate of either probability is off by more than 3.3 / sqrt(runs), whatever
// the cut (Dvoretzky-Kiefer-Wolfowitz).
struct Audit {
  double delta;
  double tolerance;
};

inline Audit audit(const std::function<double(double)>& release, double value, double neighbour,
                   double epsilon, int runs) {
  const auto sorted_outputs = [&](double input) {
    std::vector<double> outputs;
    for (int i = 0; i < runs; ++i) outputs.push_back(release(input));
    std::sort(outputs.begin(), outputs.end());
    return outputs;
  };
  const auto exceeding = [&](const std::vector<double>& outputs, double cut) {
    return static_cast<double>(outputs.end() - std::upper_bound(outputs.begin(), outputs.end(), cut)) / runs;
  };
  const auto outputs = sorted_outputs(value);
  const auto neighbours = sorted_outputs(neighbour);
  double delta = 0.0;
  for (const double cut : outputs) {
    delta = std::max(delta, exceeding(outputs, cut) - std::exp(epsilon) * exceeding(neighbours, cut));
  }
  return {.delta = delta, .tolerance = (1 + std::exp(epsilon)) * 3.3 / std::sqrt(runs)};
}

}  // namespace ration::testing
