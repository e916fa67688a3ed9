// For extensions: may change between minor versions.
#pragma once

#include "ration/clipping/clip_rule.h"

namespace ration {

// Clipping as usual: a row contributes g * min(1, R / |g|), short gradients as they are and long ones
// shortened to R.
//
// Guarantee   |contribution| <= R, so the sum's sensitivity is R (add_remove) or 2R (replace_one).
// Edge cases  see clipping/clip_rule.h.
// Lazy region if most rows are clipped and they balance, the sum vanishes on a whole interval far from the
//             optimum [Bu23, App. F].
// [Abadi16, Alg. 1]
struct Abadi {
  double R = 1.0;  // > 0

  // min(1, R / norm), without a branch: which rows are clipped no processor can guess.
  double factor(double norm) const { return R / (norm < R ? R : norm); }
  // The longest contribution of a row.
  double bound() const { return R; }
};
static_assert(ClipRule<Abadi>);

}  // namespace ration
