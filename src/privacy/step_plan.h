#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "privacy/steps.h"
#include "ration/privacy/event.h"
#include "ration/privacy/relation.h"

namespace ration {

// Consecutive steps that share a noise multiplier.
struct NoiseRun {
  double noise_multiplier;  // > 0
  std::int64_t steps;       // >= 1
};

// A run of noisy gradient steps that is fixed before it starts: what `ration account` adds up.
struct StepPlan {
  Sampling sampling = Sampling::full;
  double rate = 1;  // 0 < rate <= 1; 1 for full batch
  Relation relation = Relation::add_remove;
  std::vector<NoiseRun> noise;
  std::string schedule_file;  // where `noise` came from; empty if from flags

  std::int64_t steps() const;
  Event event() const;
  // The plan stopped after its first `steps` steps.
  StepPlan first(std::int64_t steps) const;
  // "Poisson sampling at rate 0.01, noise multiplier 1, 1000 steps, relation add_remove"
  std::string describe() const;
  // The smallest and the largest noise multiplier.
  std::pair<double, double> noise_range() const;
};

}  // namespace ration
