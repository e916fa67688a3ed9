#pragma once

#include <span>
#include <vector>

#include "ration/data/schema.h"

namespace ration::data {

// Places of knots (schema.h) on the axis from 0 to 1: dyadic, closer to each other towards 0.
inline constexpr double kCoarsePlaces[] = {1.0 / 16, 1.0 / 4, 1.0 / 2, 3.0 / 4};
// Twice as many, those of the coarse grid among them.
inline constexpr double kFinePlaces[] = {1.0 / 64, 1.0 / 16, 1.0 / 8, 1.0 / 4,
                                         3.0 / 8,  1.0 / 2,  5.0 / 8, 3.0 / 4};

// The knots of a number whose places, linear or log, are `places`: 0 < places increasing < 1. Public, since
// the bounds are.
//
// Guarantee   find_fault accepts them: they are increasing, inside the bounds, and apart once scaled.
// Edge cases  what rounding puts on another knot or on a bound is left out, so that there may be fewer of
//             them, or none.
std::vector<double> dyadic_knots(const Column& column, std::span<const double> places);

}  // namespace ration::data
