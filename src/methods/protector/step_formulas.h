#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

#include "methods/protector.h"
#include "methods/protector/coordinate_lstm.h"
#include "methods/protector/lanewise.h"

// What a private run and the unrolled runs of meta-training have in common.
namespace ration::protector {

inline LstmShape scheduler_shape(const Protector& protector) {
  return {Protector::kSchedulerInputs, protector.units};
}
inline LstmShape projector_shape(const Protector& protector) {
  return {Protector::kProjectorInputs, protector.units};
}

// Before the first gradient its length is unknown; no mean of clipped gradients is longer than the clip
// bound.
inline constexpr double kFirstNorm = 1;

// In (least, 2 even - least). [L2P, App. B.7]
inline double scheduled_noise(double output, double even, double least) {
  return least + 2 * (even - least) / (1 + std::exp(-output));
}
inline double scheduled_noise_slope(double output, double even, double least) {
  const double y = 1 / (1 + std::exp(-output));
  return 2 * (even - least) * y * (1 - y);
}
inline double largest_noise(double even, double least) {
  return 2 * even - least;
}

// The length that a mean gradient has without its noise, estimated from the noisy one, over the clip bound.
inline double norm_without_noise(double squared_norm, std::size_t coordinates, double stddev, double bound) {
  const double noise = static_cast<double>(coordinates) * stddev * stddev;
  return std::sqrt(std::max(0.0, squared_norm - noise)) / bound;
}

// What the projector sees of each coordinate.
template <class Number>
void set_projector_inputs(std::span<const double> gradient, double stddev, double bound,
                          Lanewise<Number>& inputs) {
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    inputs.at(0, i) = static_cast<Number>(std::asinh(gradient[i] / stddev));
    inputs.at(1, i) = static_cast<Number>(gradient[i] / bound);
  }
}

}  // namespace ration::protector
