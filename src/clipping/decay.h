#pragma once

#include "base/check.h"

namespace ration {

// Bounds that shrink as training nears its end: C <- (1 - zeta) C for the gradients' and the losses' bound,
// once per step in which the gradient budget was raised, however often it was raised in that step.
//
// Guarantee   post-processing: the decision rests on what was released already, and costs nothing.
// [Chen20, Eq. 9]
struct BoundDecay {
  double zeta = 0.05;  // in [0, 1)

  double next_bound(double bound) const {
    return bound * (1 - require("clip decay", "zeta", zeta, at_least(0).less_than(1)));
  }
};

}  // namespace ration
