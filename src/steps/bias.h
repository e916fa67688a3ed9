#pragma once

#include <cmath>
#include <cstdint>

namespace ration::steps {

// 1 - decay^t, the sum of the weights of an exponential average after t values; accurate also near
// decay = 1.
inline double total_weight(double decay, std::int64_t t) {
  return -std::expm1(static_cast<double>(t) * std::log(decay));
}

}  // namespace ration::steps
