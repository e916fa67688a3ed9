#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "ration/train/plan.h"

namespace ration {

// The names of the shapes a plan may ask for.
const std::vector<std::string>& schedule_names();

// A plan's schedule is one of the names or a file; what has a '.' or a '/' in it is a file.
bool is_schedule_file(std::string_view schedule);

// Throws InputError unless it is a name or may be a file: "<where>: expected one of uniform, ...".
void require_schedule(std::string_view where, std::string_view schedule);

// The noise of each step up to one common factor: of the shape, or as the file has it. `steps` left out means
// as many as the file has, or 200; with a file, any other number is refused.
std::vector<double> noise_shape_of(const Plan& plan, std::optional<std::int64_t> steps);

}  // namespace ration
