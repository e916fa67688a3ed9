#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "ration/data/rows.h"

namespace ration::bench {

// A generated table of adult's shape, the one that libraries are timed on: 48,842 rows, 124 columns, two
// classes.
inline constexpr std::size_t kRows = 48'842;
inline constexpr std::size_t kColumns = 124;
inline constexpr double kRate = 0.1;              // of Poisson sampling
inline constexpr std::size_t kAdultEntries = 14;  // per row that are not 0: adult's columns

// `per_row` entries of each row are not 0.
SparseMatrix random_matrix(std::size_t per_row);
std::vector<double> random_labels();

// Made once.
std::shared_ptr<const Rows> dense_table();
std::shared_ptr<const Rows> sparse_table(std::size_t per_row);

}  // namespace ration::bench
