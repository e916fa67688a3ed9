#include "objectives/neural/convert.h"

#include "base/per_processor.h"

namespace ration::nn {

RATION_PER_PROCESSOR void to_floats(const double* __restrict from, std::size_t count, float* __restrict to) {
  for (std::size_t i = 0; i < count; ++i) to[i] = static_cast<float>(from[i]);
}

RATION_PER_PROCESSOR void add_floats(const float* __restrict from, std::size_t count, double* __restrict to) {
  for (std::size_t i = 0; i < count; ++i) to[i] += static_cast<double>(from[i]);
}

}  // namespace ration::nn
