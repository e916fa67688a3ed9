#pragma once

#include <vector>

#include "meta/train_protector.h"
#include "meta/unroll.h"

namespace ration::meta {

// What a budget means for a task. Noise multipliers are found by a search, and are the same for all tasks
// that are sampled alike.
class Protections {
 public:
  // The options must outlive it.
  explicit Protections(const MetaOptions& options) : options_(options) {}

  Protection of(const Protector& protector, double epsilon, const Task& task);

 private:
  struct Known {
    double epsilon, rate;
    bool releases;
    Protection protection;
  };

  Protection alike(const Protector& protector, double epsilon, const Task& task, double rate, bool releases);

  const MetaOptions& options_;
  std::vector<Known> known_;
};

}  // namespace ration::meta
