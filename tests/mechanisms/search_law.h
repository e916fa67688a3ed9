#pragma once

#include <cmath>
#include <variant>
#include <vector>

#include "mechanisms/laws.h"
#include "ration/mechanisms/above_threshold.h"

namespace ration::testing {

// The two noises of a search, in the units of the queries.
struct SearchNoise {
  bool gaussian;
  double threshold;
  double query;
};

inline SearchNoise noise_of(const AboveThresholdOptions& options) {
  const double d = options.sensitivity;
  if (const auto* laplace = std::get_if<LaplaceSearch>(&options.noise)) {
    return {
        .gaussian = false, .threshold = d / laplace->threshold_epsilon, .query = d / laplace->query_epsilon};
  }
  const auto& gaussian = std::get<GaussianSearch>(options.noise);
  return {.gaussian = true, .threshold = d * gaussian.threshold_noise, .query = d * gaussian.query_noise};
}

// The probabilities that query 0, 1, ... is the first above, and last that none is, by integrating over the
// noisy threshold: given it, the queries are independent.
inline Law first_above_law(const std::vector<double>& queries, double threshold, const SearchNoise& noise) {
  const auto cdf = [&](double x) { return noise.gaussian ? normal_cdf(x) : laplace_cdf(x); };
  constexpr int kCells = 6'000;
  const double reach = noise.gaussian ? 9.0 : 35.0;
  Law law(queries.size() + 1, 0.0);
  for (int cell = 0; cell < kCells; ++cell) {
    const double low = reach * (2.0 * cell / kCells - 1.0);
    const double high = reach * (2.0 * (cell + 1) / kCells - 1.0);
    double reached = cdf(high) - cdf(low);
    const double noisy_threshold = threshold + noise.threshold * (low + high) / 2;
    for (std::size_t i = 0; i < queries.size(); ++i) {
      const double above = cdf((queries[i] - noisy_threshold) / noise.query);
      law[i] += reached * above;
      reached *= cdf((noisy_threshold - queries[i]) / noise.query);
    }
    law.back() += reached;
  }
  double total = 0.0;
  for (const double probability : law) total += probability;
  for (double& probability : law) probability /= total;
  return law;
}

}  // namespace ration::testing
