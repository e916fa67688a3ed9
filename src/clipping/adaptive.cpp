#include "clipping/adaptive.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace ration {

double QuantileFollower::next_bound(double bound, double noisy_count, double divisor) const {
  require("adaptive clipping", "target", target, at_least(0).at_most(1));
  require("adaptive clipping", "rate", rate, greater_than(0));
  require("adaptive clipping", "bound", bound, greater_than(0));
  require("adaptive clipping", "divisor", divisor, greater_than(0));
  if (std::isnan(noisy_count)) return bound;
  const double share = std::clamp(noisy_count / divisor, 0.0, 1.0);
  return bound * std::exp(-rate * (share - target));
}

}  // namespace ration
