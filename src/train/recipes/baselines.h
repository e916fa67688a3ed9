#pragma once

#include <vector>

#include "train/method_plan.h"

namespace ration {

// What others are measured by. One release from all rows: objpert, outpert-gd, outpert-rsgd, bolton,
// majority; a few selections: privgene; and no protection at all: nonprivate.
std::vector<Recipe> baseline_recipes();

}  // namespace ration
