#include "base/squared_length.h"

#include <cstddef>

#include "base/per_processor.h"

namespace ration {
namespace {

constexpr std::size_t kLanes = 32;  // sums that grow side by side

RATION_INLINE double sum_of_squares(const double* values, std::size_t count) {
  double lanes[kLanes] = {};
  std::size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (std::size_t k = 0; k < kLanes; ++k) lanes[k] += values[i + k] * values[i + k];
  }
  double sum = 0;
  for (; i < count; ++i) sum += values[i] * values[i];
  for (const double lane : lanes) sum += lane;
  return sum;
}

}  // namespace

double squared_length(std::span<const double> values) {
  return PerProcessor<sum_of_squares>::call(values.data(), values.size());
}

}  // namespace ration
