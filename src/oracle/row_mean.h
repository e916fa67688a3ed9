#pragma once

#include <optional>
#include <span>
#include <vector>

#include "ration/base/random.h"
#include "ration/data/rows.h"
#include "ration/privacy/filter.h"
#include "ration/sampling/sampler.h"

namespace ration {

struct RowMeanQuery {
  double bound = 1;             // > 0; longer rows are shortened to it
  double noise_multiplier = 1;  // > 0
};

// A row of features in [0, 1], hats (data/schema.h) among them, or of mean square at most 1, is no longer
// than this.
double longest_row(std::size_t columns);

// The mean of all rows, for models that see rows less their mean.
//
// Formula     (sum_i x_i min(1, bound / |x_i|) + N(0, (noise_multiplier D)^2 I)) / declared rows, D the
//             sensitivity of the sum.
// Guarantee   a row moves the sum by at most bound (add_remove) or 2 bound (replace_one), as a clipped
//             gradient does; what the sum may lose to rounding is added to that. So its event is
//             Gaussian(noise_multiplier), and the filter is asked before anything else.
// Edge cases  a row without a finite norm counts as zeros; no rows give noise alone.
// Nothing if the budget refuses.
std::optional<std::vector<double>> noisy_row_mean(const Rows& rows, const RowMeanQuery& query,
                                                  double declared_rows, Relation relation,
                                                  BudgetFilter& filter, RandomSource& random);

// sum += factor * row.
void add_row(const Rows& rows, std::size_t row, double factor, std::span<double> sum);

// The standard deviation of each coordinate of its noise; public.
double row_mean_stddev(const RowMeanQuery& query, const TableSize& table, std::size_t columns,
                       Relation relation);

}  // namespace ration
