#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "methods/method.h"
#include "methods/protector.h"
#include "ration/objectives/objective.h"
#include "ration/privacy/accountant.h"
#include "ration/privacy/calibrate.h"

namespace ration::e5 {

// Where a private run went: the weights before the first step and after each, or only the last if they are
// many.
struct PrivateRun {
  std::vector<std::vector<double>> weights;
  double spent = 0;  // share of the budget

  const std::vector<double>& last() const { return weights.back(); }
};

// On the full batch, through the oracle, until the method stops or the budget refuses. The random source is
// seeded, so that figures come out the same again: for public rows only.
struct RunOptions {
  Budget budget{0.05, 1e-8};
  Accountant accountant = Accountant::gdp;
  std::uint64_t seed = 1;
  bool keep_all = false;
};
PrivateRun run_privately(Objective& objective, Method& method, const RunOptions& options);

// The protector at work.
PrivateRun run_protector(Objective& objective, std::shared_ptr<const Protector> protector,
                         const std::vector<double>& start, const RunOptions& options);

}  // namespace ration::e5
