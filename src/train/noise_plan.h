#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ration/train/plan.h"
#include "schedules/noise_shape.h"

namespace ration {

// The shape that a plan names; its schedule is no file.
NoiseShape shape_of(const Plan& plan);

// The noise of each step up to one common factor: of the shape, or as the file has it. `steps` left out means
// as many as the file has, or 200; with a file, any other number is refused.
std::vector<double> noise_shape_of(const Plan& plan, std::optional<std::int64_t> steps);

}  // namespace ration
