// Stable: changes only with a new major version.
#pragma once

#include "ration/base/names.h"

namespace ration {

// The losses of linear models; src/objectives/glm/losses.h has their formulas.
enum class GlmLoss { logistic, softmax, hinge, huber, squared };

// Their names.
inline constexpr NamedValue<GlmLoss> kGlmLosses[] = {
    {GlmLoss::logistic, "logistic", "Logistic regression, two classes."},
    {GlmLoss::softmax, "softmax", "Softmax regression, two or more classes."},
    {GlmLoss::hinge, "hinge", "Linear support vector machine, two classes."},
    {GlmLoss::huber, "huber", "The same with a smooth (Huber) hinge of width `huber_width`."},
    {GlmLoss::squared, "squared", "Linear regression."},
};
// Found by base/names.h.
constexpr NameTable<GlmLoss> name_table(GlmLoss) {
  return {"loss", kGlmLosses};
}

}  // namespace ration
