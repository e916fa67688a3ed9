#include "ration/schedules/scale.h"

#include <algorithm>
#include <cmath>

namespace ration {
namespace {

// The size at which the shape's mean of 1 / noise^2 is 1. A search that starts there starts at a run about as costly as one of uniform
// noise 1; at size 1 the smallest noise of a steep shape may be so small that the accountant's tables do not fit into memory.
double usual_size(std::span<const double> shape) {
  double precision = 0;
  for (const double relative : shape) precision += 1 / (relative * relative);
  return std::sqrt(precision / static_cast<double>(shape.size()));
}

}  // namespace

std::vector<double> scaled_by(std::span<const double> shape, double size) {
  std::vector<double> noise(shape.size());
  std::transform(shape.begin(), shape.end(), noise.begin(),
                 [size](double relative) { return size * relative; });
  return noise;
}

ScaledNoise scale_onto_budget(std::span<const double> shape, const EventOfNoise& event_of, Relation relation,
                              Accountant accountant, const Budget& budget) {
  const double usual = usual_size(shape);
  const auto plan = [&](double noise) { return event_of(scaled_by(shape, usual * noise)); };
  const double size = usual * calibrate_noise(plan, relation, accountant, budget);
  return {size, scaled_by(shape, size)};
}

}  // namespace ration
