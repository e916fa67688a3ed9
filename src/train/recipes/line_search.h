#pragma once

#include <vector>

#include "train/method_plan.h"

namespace ration {

// Gradient descent that picks its own steps: blsgd, blsgd-ac and blgd by a line search, agd by a noisy
// minimum.
std::vector<Recipe> line_search_recipes();

}  // namespace ration
