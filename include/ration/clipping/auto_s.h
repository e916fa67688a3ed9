// For extensions: may change between minor versions.
#pragma once

#include "ration/clipping/clip_rule.h"

namespace ration {

// Automatic clipping with a stability constant: every row contributes g * R / (|g| + gamma).
//
// Guarantee   |contribution| < R for any g, so the sum's sensitivity is R (add_remove) or 2R (replace_one).
// Edge cases  g = 0 gives 0; a NaN or infinite g contributes 0 (see clipping/clip_rule.h).
// Why gamma   with gamma = 0 the rule is auto-v, whose sum can vanish on a whole interval far from the
//             optimum ("lazy region", [Bu23, App. F]); gamma > 0 keeps the sign and size information of small
//             gradients.
// [Bu23, Sec. 4.1, Thm 1, Thm 3]
struct AutoS {
  double R = 1.0;       // > 0
  double gamma = 0.01;  // > 0

  // What a gradient of this norm > 0 is multiplied by.
  double factor(double norm) const { return R / (norm + gamma); }
  // The longest contribution of a row.
  double bound() const { return R; }
};
static_assert(ClipRule<AutoS>);

}  // namespace ration
