#pragma once

#include <memory>
#include <optional>
#include <string>

#include "ration/train/model.h"

namespace ration {

// Weights per encoded column of a linear model: one, or one for each class of softmax.
std::size_t outputs(const Model& model);

// How many weights there are.
std::size_t parameters(const Model& model);

// What does not fit together of schema, loss, classes and width, weights aside; nothing if all does.
std::optional<std::string> shape_fault(const Model& model);

// What is wrong with what it knows of its noise, if it knows something.
std::optional<std::string> noise_fault(const Model& model);

}  // namespace ration
