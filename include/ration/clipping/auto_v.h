// For extensions: may change between minor versions.
#pragma once

#include "ration/clipping/clip_rule.h"

namespace ration {

// Automatic clipping, plain: every row contributes g * R / |g|, a vector of length R whatever the gradient's
// size.
//
// Guarantee   |contribution| <= R, so the sum's sensitivity is R (add_remove) or 2R (replace_one).
// Edge cases  g = 0 gives 0; see clipping/clip_rule.h.
// Lazy region a row near its optimum pulls as hard as one far away, so the sum can vanish on a whole interval
//             [Bu23, App. F]; auto-s is the remedy.
// [Bu23, Sec. 3]
struct AutoV {
  double R = 1.0;  // > 0

  // What a gradient of this norm > 0 is multiplied by.
  double factor(double norm) const { return R / norm; }
  // The longest contribution of a row.
  double bound() const { return R; }
};
static_assert(ClipRule<AutoV>);

}  // namespace ration
