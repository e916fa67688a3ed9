#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "ration/objectives/row_view.h"

namespace ration {

// How a linear model looks at its rows, computed from answers that are private already, so that one length of
// step suits all directions, and a clipped gradient spends its length on those that tell something.

// How the rows are seen, and how long what is seen is on average, without the bias.
struct Design {
  std::shared_ptr<const RowView> view;
  double expected_squared_norm = 1;
  std::size_t directions = 1;  // without the bias
  // Of a design that is not white, the expected square of each direction; of one that is, what small
  // eigenvalues of the second moment were taken to be.
  std::vector<double> scales{};
  double floor = 0;
};

// Columns less their mean m, times v^(-1/4), v = m (1 - m) the variance of a column of zeros and ones, which
// other columns in [0, 1] do not exceed. Rare categories are raised, but not to the height of their noise.
// Columns whose mean is below `stddev`, the noise of each, are left out, but not all of them. Of more than
// 512 those that vary most are kept, since the work and the noise of a second moment grow with their square.
// `with_bias`: a last coordinate of ones.
Design centred_and_scaled(std::span<const double> mean, double stddev, bool with_bias);

// What `before`, made without a bias, sees, turned and scaled so that its second moment is near the identity;
// a last coordinate of ones. `upper` is the noisy second moment, `stddev` the noise on its diagonal.
// Directions whose eigenvalue is lost in the noise are scaled as if it stood at the noise's edge: a symmetric
// matrix of noise alone has eigenvalues up to about stddev sqrt(2 directions). [Wigner's semicircle]
Design whitened(const Design& before, std::span<const double> upper, double stddev);

}  // namespace ration
