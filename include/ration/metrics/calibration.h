// Stable: changes only with a new major version.
#pragma once

#include <cstddef>

namespace ration {

// The rows of which a model gave something a probability in [from, to), the last bin's end included: how
// likely it was said to be on average, and how often it came so.
struct CalibrationBin {
  double from = 0;       // 0, 0.1, ...
  double to = 0;         // 0.1, 0.2, ...
  std::size_t rows = 0;  // at least one
  double said = 0;       // mean probability
  double was = 0;        // share of the rows
};

}  // namespace ration
