#pragma once

#include <cstdint>
#include <optional>

#include "ration/base/random.h"
#include "ration/privacy/event.h"
#include "ration/privacy/filter.h"

namespace ration {

// The number of rows, for a run under add_remove whose user did not declare it: a mean needs a public
// divisor.
//
// Formula     max(1, round(rows + N(0, noise_multiplier^2))).
// Guarantee   the count changes by 1 between add_remove neighbours, so its event is
//             Gaussian(noise_multiplier); the filter is asked before anything else. Under replace_one the
//             number of rows is public, and nobody needs to ask.
// Nothing if the budget refuses.
std::optional<double> noisy_row_count(std::uint64_t rows, double noise_multiplier, BudgetFilter& filter,
                                      RandomSource& random);

}  // namespace ration
