#pragma once

#include <cstddef>
#include <memory>

#include "methods/method.h"

namespace ration {

struct MajorityOptions {
  double noise_multiplier = 1;  // > 0
  std::size_t bias_column = 0;  // the constant column, positive in every row
  std::size_t classes = 2;      // >= 2
  std::size_t outputs = 1;      // 1: class 1 is z > 0; else as many as classes
};

// The same class for every row: the one with the largest noisy count. All weights are 0 but those of the
// bias, which are the logarithms of the counts (of their ratio, for one output), so that the loss is sensible
// too.
//
// Edge cases  a count below 1 after the noise counts as 1. Labels that are no classes are refused.
std::unique_ptr<Method> make_majority(const MajorityOptions& options, std::size_t parameters);

// The event of the whole run.
Event majority_event(double noise_multiplier);

}  // namespace ration
