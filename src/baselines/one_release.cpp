#include "baselines/one_release.h"

#include <algorithm>

#include "baselines/state.h"

namespace ration {

bool OneRelease::step(PrivateOracle& oracle) {
  if (done_ || !release(oracle, w_, report_)) return false;
  done_ = true;
  report_.step = 1;
  return true;
}

void OneRelease::weights(std::span<double> out) const {
  require_size("weights", out.size(), w_.size());
  std::copy(w_.begin(), w_.end(), out.begin());
}

MethodState OneRelease::save() const {
  return {{"step", {done_ ? 1.0 : 0.0}}, {"weights", w_}};
}

void OneRelease::restore(const MethodState& state) {
  const double step = saved_count(state, "step", 1);
  w_ = saved_part(state, "weights", w_.size());
  done_ = step == 1;
  report_.step = done_ ? 1 : 0;
}

}  // namespace ration
