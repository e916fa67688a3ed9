#pragma once

#include <cstdint>

#include "ration/mechanisms/above_threshold.h"

namespace ration {

// The noise with which a search of at most `queries` >= 1 queries is rho-zCDP, rho > 0: never more and hardly
// less, by privacy/search_curve.h. query_noise^2 = 2 threshold_noise^2, as in [Chen20]: for many queries that
// is the least noise in all. It is not with the mechanism, which knows no accountant.
GaussianSearch gaussian_search_of(double rho, std::int64_t queries);

}  // namespace ration
