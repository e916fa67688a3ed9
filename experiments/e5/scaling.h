#pragma once

#include <cstddef>
#include <vector>

#include "public_data.h"

namespace ration::e5 {

// One epoch of meta-training in batches of 20 steps, on networks: one update of the scheduler, of two passes,
// and five of the projector.
struct ScalingRow {
  std::int64_t steps = 0;    // unrolled
  double seconds = 0;        // of the epoch
  double megabytes = 0;      // the process at its largest, in a process of its own
  double paper_seconds = 0;  // [L2P, Table 1], batches of 20 on a TITAN X
};

// A network of four layers, 20 units each and one output, on an image pair. [L2P, App. C.4]
ScalingRow measure_epoch(const PublicData& images, std::int64_t steps, std::size_t threads);

}  // namespace ration::e5
