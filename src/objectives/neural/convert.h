#pragma once

#include <cstddef>

namespace ration::nn {

// Between the 64 bits of tables and sums and the 32 bits of networks. The memories do not overlap.
void to_floats(const double* from, std::size_t count, float* to);
void add_floats(const float* from, std::size_t count, double* to);

}  // namespace ration::nn
