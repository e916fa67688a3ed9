#include "schedules/scale.h"

#include <algorithm>
#include <cmath>

namespace ration {

double usual_size(std::span<const double> shape) {
  double precision = 0;
  for (const double relative : shape) precision += 1 / (relative * relative);
  return std::sqrt(precision / static_cast<double>(shape.size()));
}

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
