#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "ration/base/error.h"

// What the mechanisms' outputs are distributed like, computed and not sampled, to hold the samplers and the
// claimed guarantees against.
namespace ration::testing {

using Law = std::vector<double>;  // probabilities that sum to one

inline double normal_cdf(double x) {
  return 0.5 * std::erfc(-x / std::sqrt(2.0));
}
inline double laplace_cdf(double x) {
  return x < 0 ? 0.5 * std::exp(x) : 1.0 - 0.5 * std::exp(-x);
}

inline double renyi_divergence(const Law& p, const Law& q, double order) {
  double sum = 0.0;
  for (std::size_t i = 0; i < p.size(); ++i) {
    if (p[i] <= 0) continue;
    sum += order == 1.0 ? p[i] * std::log(p[i] / q[i])
                        : p[i] * std::expm1((order - 1.0) * std::log(p[i] / q[i]));
  }
  return order == 1.0 ? sum : std::log1p(sum) / (order - 1.0);
}

struct LossRange {
  double lowest;
  double highest;
  double width() const { return highest - lowest; }
  double largest() const { return std::max(-lowest, highest); }
};

// The privacy losses ln(p/q) of all outcomes.
inline LossRange loss_range(const Law& p, const Law& q) {
  LossRange range{.lowest = INFINITY, .highest = -INFINITY};
  for (std::size_t i = 0; i < p.size(); ++i) {
    const double loss = std::log(p[i] / q[i]);
    range = {.lowest = std::min(range.lowest, loss), .highest = std::max(range.highest, loss)};
  }
  return range;
}

// exp(-weight(k)) over the integers -reach..reach, normalised; index 0 is -reach.
inline Law integer_law(int reach, const std::function<double(int)>& weight) {
  Law law;
  double total = 0.0;
  for (int k = -reach; k <= reach; ++k) {
    law.push_back(std::exp(-weight(k)));
    total += law.back();
  }
  for (double& probability : law) probability /= total;
  return law;
}

// How often `draw` gave -reach, ..., reach; a value outside goes to the nearer end.
inline std::vector<std::uint64_t> integer_counts(int reach, int draws,
                                                 const std::function<std::int64_t()>& draw) {
  std::vector<std::uint64_t> counts(static_cast<std::size_t>(2 * reach + 1));
  for (int i = 0; i < draws; ++i) {
    const std::int64_t k = std::clamp<std::int64_t>(draw(), -reach, reach);
    ++counts[static_cast<std::size_t>(k + reach)];
  }
  return counts;
}

inline std::string input_error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const InputError& error) {
    return error.what();
  }
  return "no InputError";
}

}  // namespace ration::testing
