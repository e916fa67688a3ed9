#pragma once

#include <cmath>
#include <cstddef>
#include <limits>

#include "mechanisms/grid.h"

namespace ration {

// Noise for a value that is rounded to the grid first, `per_unit` per unit of the sensitivity that includes
// the rounding. A few roundings in double precision happen on the way; the last factor is larger than all of
// them.
inline double noise_with_drift(double per_unit, double sensitivity, double drift) {
  constexpr double upward = 1.0 + 8.0 * std::numeric_limits<double>::epsilon();
  return per_unit * (sensitivity + drift) * upward;
}

inline double l2_drift(const Grid& grid, std::size_t dimension) {
  return std::sqrt(static_cast<double>(dimension)) * grid.step();
}

inline double l1_drift(const Grid& grid, std::size_t dimension) {
  return static_cast<double>(dimension) * grid.step();
}

}  // namespace ration
