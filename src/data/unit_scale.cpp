#include "data/unit_scale.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace ration::data {

UnitScale::UnitScale(const Column& column)
    : scale_(column.scale),
      low_(column.low),
      high_(column.high),
      part_(std::isfinite(column.high - column.low) ? 1 : 0.5),
      range_(scale_ == Scale::log ? log_of(above_low(high_)) : above_low(high_)) {}

double UnitScale::place_of(double value) const {
  const double above = above_low(value);
  if (scale_ == Scale::linear) return above / range_;
  return std::min(1.0, log_of(above) / range_);  // nobody promises that log is monotone to the last bit
}

// Of halves, log(1 + 2 h) = log(1/2 + h) + log 2.
double UnitScale::log_of(double above_low) const {
  return part_ == 1 ? std::log1p(above_low) : std::log(0.5 + above_low) + std::numbers::ln2;
}

double UnitScale::value_at(double place) const {
  const double above = scale_ == Scale::linear ? place * range_
                       : part_ == 1            ? std::expm1(place * range_)
                                               : std::exp(place * range_ - std::numbers::ln2) - 0.5;
  return std::clamp((low_ * part_ + above) / part_, low_, high_);
}

}  // namespace ration::data
