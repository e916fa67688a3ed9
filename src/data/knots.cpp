#include "data/knots.h"

#include "base/check.h"
#include "data/unit_scale.h"

namespace ration::data {

std::vector<double> dyadic_knots(const Column& column, std::span<const double> places) {
  const UnitScale scale(column);
  std::vector<double> knots;
  double previous = 0, previous_rounded = 0;
  for (const double place : places) {
    previous = require("knots", "place", place, greater_than(previous).less_than(1));
    const double knot = scale.value_at(place);
    const double rounded = scale.place_of(knot);
    if (!(rounded > previous_rounded && rounded < 1)) continue;
    knots.push_back(knot);
    previous_rounded = rounded;
  }
  return knots;
}

}  // namespace ration::data
