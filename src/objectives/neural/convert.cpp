#include "objectives/neural/convert.h"

#include "base/per_processor.h"

namespace ration::nn {
namespace {

RATION_INLINE void convert(const double* __restrict from, std::size_t count, float* __restrict to) {
  for (std::size_t i = 0; i < count; ++i) to[i] = static_cast<float>(from[i]);
}

RATION_INLINE void add(const float* __restrict from, std::size_t count, double* __restrict to) {
  for (std::size_t i = 0; i < count; ++i) to[i] += static_cast<double>(from[i]);
}

}  // namespace

void to_floats(const double* from, std::size_t count, float* to) {
  PerProcessor<convert>::call(from, count, to);
}

void add_floats(const float* from, std::size_t count, double* to) {
  PerProcessor<add>::call(from, count, to);
}

}  // namespace ration::nn
