#pragma once

#include <string>
#include <vector>

#include "text/answer.h"

namespace ration::cli {

// The SVG of epsilon against the number of steps, one line per accountant that answered; what is not
// certified is dashed.
std::string plot_epsilon(const StepPlan& plan, const std::vector<Answer>& answers, double delta);

}  // namespace ration::cli
