#pragma once

#include "ration/train/resolve.h"
#include "train/recipes/gradient_descent.h"

namespace ration::testing {

// Of a plan for gradient descent.
inline const GradientDescentOptions& options_of(const ResolvedPlan& plan) {
  return dynamic_cast<const GradientDescentPlan&>(*plan.fixed()).options();
}

}  // namespace ration::testing
