#pragma once

#include <functional>
#include <span>
#include <vector>

#include "ration/privacy/accountant.h"
#include "ration/privacy/calibrate.h"

namespace ration {

struct ScaledNoise {
  double size = 1;            // what the shape was multiplied by
  std::vector<double> noise;  // size * shape
};

// The event of a whole run whose step t has the noise multiplier noise[t].
using EventOfNoise = std::function<Event(std::span<const double> noise)>;

// The smallest size at which a run of this shape is within the budget, by the accountant's own figure: never
// above it, and not below epsilon * (1 - 1e-3). Any accountant, sampled or not. Throws InputError if the
// accountant refuses the event, or nothing is within the budget.
ScaledNoise scale_onto_budget(std::span<const double> shape, const EventOfNoise& event_of, Relation relation,
                              Accountant accountant, const Budget& budget);

// The size at which the shape's mean of 1 / noise^2 is 1. A search that starts there starts at a run about as
// costly as one of uniform noise 1; at size 1 the smallest noise of a steep shape may be so small that the
// accountant's tables do not fit into memory.
double usual_size(std::span<const double> shape);

// size * shape.
std::vector<double> scaled_by(std::span<const double> shape, double size);

}  // namespace ration
