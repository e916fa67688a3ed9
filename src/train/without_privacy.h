#pragma once

#include <memory>

#include "ration/objectives/objective.h"
#include "ration/train/method_plan.h"

namespace ration {

// Minimises the mean loss on the rows themselves, in one step that asks the oracle nothing. Never a release: whoever
// makes one says so in the certificate. The objective must outlive it.
std::unique_ptr<Method> make_fit_without_privacy(Objective& objective, const WithoutPrivacy& options);

}  // namespace ration
