#pragma once

#include "privacy/steps.h"

namespace ration {

// The zCDP parameter rho of everything that ran on one sample, before any amplification.
double zcdp_cost(const Step& step);

}  // namespace ration
