#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "ration/data/rows.h"
#include "ration/objectives/glm/glm.h"
#include "ration/objectives/network.h"
#include "ration/objectives/objective.h"
#include "ration/train/model.h"

namespace ration {

// What make_glm needs to know of a linear model; 0 threads: one per processor.
GlmOptions glm_options(const Model& model, std::size_t threads = 0);
// What networks() needs to know of a network.
NetworkSpec network_spec(const Model& model);

// The model's loss on rows. Labels that are unused may be anything; then only predict() has a meaning.
enum class Labels { used, unused };
std::unique_ptr<Objective> make_objective(const Model& model, std::shared_ptr<const Rows> rows,
                                          const Hardware& hardware = {}, Labels labels = Labels::used,
                                          std::shared_ptr<const Units> units = nullptr);
// Throws InputError unless the model can be computed there: linear models with the processor alone.
void require_device(const Model& model, const std::string& device);

}  // namespace ration
