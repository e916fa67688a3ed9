#pragma once

#include "ration/data/schema.h"

namespace ration::data {

// How a number comes into [0, 1] by its column's public bounds, and back.
//
// Formula     linear: (x - low) / (high - low); log: log(1 + x - low) / log(1 + high - low).
// Guarantee   a larger number has no smaller place; low has 0, high has 1, and nothing between them is
//             outside [0, 1]. Numbers that are too close for doubles may share a place.
// Edge cases  high - low may overflow where neither bound does; then all is computed with halves.
class UnitScale {
 public:
  // Of a number with low < high, both finite.
  explicit UnitScale(const Column& column);

  // low <= value <= high.
  double place_of(double value) const;
  // The number with this place, up to rounding; 0 <= place <= 1. In [low, high].
  double value_at(double place) const;

 private:
  double above_low(double value) const { return value * part_ - low_ * part_; }
  double log_of(double above_low) const;

  Scale scale_;
  double low_;
  double high_;
  double part_;   // 1, or 1/2: of every number that is computed with
  double range_;  // of above_low(), or of its logarithm
};

}  // namespace ration::data
