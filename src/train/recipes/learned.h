#pragma once

#include <vector>

#include "train/method_plan.h"

namespace ration {

// Descent by a protector that was trained on public tasks: l2p, and l2p-proj, its projector alone.
std::vector<Recipe> learned_recipes();

}  // namespace ration
