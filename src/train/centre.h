#pragma once

#include <span>
#include <vector>

#include "ration/data/rows.h"

namespace ration {

// A linear model on rows less a released mean m. Features that are far from zero on average make all
// gradients point the same way: much of a clipped gradient is then spent on one direction, and steps must be
// short for it. The last column, a bias of ones, stays as it is, and takes up the difference at the end: w (x
// - m) + b = w x + (b - w m).

Rows centred(Rows rows, std::span<const double> mean);

// From weights for centred rows to weights for rows as they are; one or more outputs, each with a weight per
// column.
void for_plain_rows(std::span<const double> mean, std::span<double> weights);

}  // namespace ration
