#pragma once

#include <memory>
#include <vector>

#include "ration/objectives/objective.h"
#include "train/method_plan.h"

namespace ration {

// Minimises the mean loss on the rows themselves, in one step that asks the oracle nothing. Never a release:
// whoever makes one says so in the certificate. The objective must outlive it.
//
// A network, which has somewhere to `start`, is fitted by Adam over ten passes; a linear model, without, to
// its minimum.
std::unique_ptr<Method> make_fit_without_privacy(Objective& objective, const WithoutPrivacy& options,
                                                 const std::vector<double>& start = {});

}  // namespace ration
