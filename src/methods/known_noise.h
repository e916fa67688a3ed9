#pragma once

#include <cstddef>
#include <vector>

namespace ration {

// What the noise of privacy does to the weights of a linear model with several outputs, as far as a method
// knows it: weights are about normal around `centre`, and
//   Cov(w of output a, column i; w of output b, column j) = sum_d factor[d, i] factor[d, j] covariance[d][a,
//   b],
// given all that was released before the descent.
//
// centre       weights before they were shrunk, outputs one after the other. Without noise there is nothing
//              to shrink by, so this, and not what was shrunk, is around the fit without noise.
// factor       `directions` rows of a number per column.
// covariance   for each direction the upper triangle over outputs, row by row.
struct KnownNoise {
  std::vector<double> centre;
  std::size_t directions = 0;
  std::vector<double> factor;
  std::vector<double> covariance;
};

}  // namespace ration
