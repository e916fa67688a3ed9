// Stable: changes only with a new major version.
#pragma once

#include <string_view>

namespace ration {

// The losses of linear models; src/objectives/glm/losses.h has their formulas.
enum class GlmLoss { logistic, softmax, hinge, huber, squared };

// "logistic", "softmax", "hinge", "huber" or "squared".
GlmLoss glm_loss_named(std::string_view name);
// As glm_loss_named() takes it.
std::string_view to_string(GlmLoss loss);

}  // namespace ration
