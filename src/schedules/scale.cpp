#include "ration/schedules/scale.h"

#include <algorithm>

namespace ration {

std::vector<double> scaled_by(std::span<const double> shape, double size) {
  std::vector<double> noise(shape.size());
  std::transform(shape.begin(), shape.end(), noise.begin(),
                 [size](double relative) { return size * relative; });
  return noise;
}

ScaledNoise scale_onto_budget(std::span<const double> shape, const EventOfNoise& event_of, Relation relation,
                              Accountant accountant, const Budget& budget) {
  const double size =
      calibrate_noise([&](double s) { return event_of(scaled_by(shape, s)); }, relation, accountant, budget);
  return {size, scaled_by(shape, size)};
}

}  // namespace ration
