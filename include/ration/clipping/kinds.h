// Stable: changes only with a new major version.
#pragma once

#include "ration/base/names.h"

namespace ration {

// How a row's gradient is bounded: the rules of AnyClipRule in their order, and then what begins as abadi.
enum class ClipKind { abadi, auto_v, auto_s, adaptive };

// Their names.
inline constexpr NamedValue<ClipKind> kClipKinds[] = {
    {ClipKind::abadi, "abadi", "Gradients longer than `clip_bound` are scaled down to it."},
    {ClipKind::auto_v, "auto-v", "Every gradient is scaled to the length `clip_bound`."},
    {ClipKind::auto_s, "auto-s", "The same, but short gradients stay short (`clip_gamma`)."},
    {ClipKind::adaptive, "adaptive", "Like abadi; the bound follows a quantile of the gradient norms."},
};
// Found by base/names.h.
constexpr NameTable<ClipKind> name_table(ClipKind) {
  return {"clip", kClipKinds};
}

}  // namespace ration
