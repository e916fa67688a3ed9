// Stable: changes only with a new major version.
#pragma once

#include <cstdint>

namespace ration {

// What a step may show to the world: private already, or public.
struct StepReport {
  std::int64_t step = 0;     // counts from 1
  double learning_rate = 0;  // or the step size that was chosen
  double gradient_norm = 0;  // of the noisy gradient
  double noise_stddev = 0;   // of each of its coordinates
};

}  // namespace ration
