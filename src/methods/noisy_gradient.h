#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "ration/base/error.h"
#include "ration/oracle/oracle.h"

namespace ration::methods {

inline double dot(std::span<const double> a, std::span<const double> b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

inline double length(std::span<const double> a) {
  return std::sqrt(dot(a, a));
}

// The Gaussian noise multiplier that is rho-zCDP.
inline double noise_of_rho(double rho) {
  return 1 / std::sqrt(2 * rho);
}

// Where a method begins: as told, or at zero.
inline std::vector<double> first_weights(std::string_view method, std::vector<double> start,
                                         std::size_t parameters) {
  if (start.empty()) return std::vector<double>(parameters, 0.0);
  if (start.size() == parameters) return start;
  throw InputError(
      fmt::format("{}: expected to begin at {} numbers or none, got {}", method, parameters, start.size()));
}

// In radians, 0 to pi. A vector without a direction is at a right angle to every other.
inline double angle_between(std::span<const double> a, std::span<const double> b) {
  const double cosine = dot(a, b) / (length(a) * length(b));
  return std::isfinite(cosine) ? std::acos(std::clamp(cosine, -1.0, 1.0)) : std::acos(0.0);
}

// An estimate of a gradient, and the variance of the noise in each of its coordinates.
struct NoisyGradient {
  std::vector<double> value;
  double variance = 0;

  // (1 - weight) this + weight other, whose noise is independent.
  void mix(const NoisyGradient& other, double weight) {
    for (std::size_t i = 0; i < value.size(); ++i) value[i] += weight * (other.value[i] - value[i]);
    variance = (1 - weight) * (1 - weight) * variance + weight * weight * other.variance;
  }
  // The average with the least noise: each estimate weighs as much as its precision, one over its variance.
  void average_by_precision(const NoisyGradient& other) {
    mix(other, variance / (variance + other.variance));
  }
};

// Asks for the gradient at w with zCDP budget rho; false if the budget refuses.
[[nodiscard]] inline bool draw_gradient(PrivateOracle& oracle, std::span<const double> w,
                                        const AnyClipRule& clip, double rho, NoisyGradient& gradient) {
  const GradientQuery query{.clip = clip, .noise_multiplier = noise_of_rho(rho)};
  if (!oracle.gradient(w, query, gradient.value)) return false;
  const double stddev = oracle.gradient_stddev(query);
  gradient.variance = stddev * stddev;
  return true;
}

// w -= eta direction. InputError if the weights overflow: they depend on the data only through private
// answers, so saying this tells nothing more.
inline void move(std::string_view method, std::int64_t step, double eta, std::span<const double> direction,
                 std::span<double> w) {
  for (std::size_t i = 0; i < w.size(); ++i) w[i] -= eta * direction[i];
  if (std::all_of(w.begin(), w.end(), [](double weight) { return std::isfinite(weight); })) return;
  throw InputError(fmt::format("{}: the weights overflow in step {}", method, step));
}

}  // namespace ration::methods
