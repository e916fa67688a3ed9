#pragma once

#include <optional>

#include "ration/privacy/calibrate.h"
#include "ration/train/plan.h"

namespace ration {

// The mu of Gaussian DP that a budget is worth: 1 / mu is the noise multiplier of one release that takes all
// of it.
double mu_of(const Budget& budget);

// Rows times mu: how much stands against the noise of one release. Public; nothing if the number of rows or
// the budget is not said.
std::optional<double> signal_of(const Plan& plan);

}  // namespace ration
