#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "ration/data/rows.h"
#include "ration/objectives/row_view.h"

namespace ration {

// What a row may be long, in what is known of all rows: features in [0, 1].
double usual_length(std::size_t columns);

// For every row x that contributes, a number that is at least |M x|, and at least |x| / usual_length(): with
// a factor of at most bound / norm, the row contributes at most `bound` to what is seen, and at most bound *
// usual_length() to the sums of rows that this is computed from. So the rounding of those has a public bound,
// whatever the row holds (Objective::magnification).
//
// Rounding    what is computed of M x is off by at most (columns + 2) u A |x| (1 + small), A the most that M
//             without its signs makes a vector longer [Higham02, Sec. 3.5] (RowView::size); that is added,
//             and what the norm of so many coordinates may lose.
// Edge cases  such rows contribute nothing (clip_factor): not finite for a row with a NaN or an infinity,
//             seen or not, or of which what is seen has squares that overflow; 0 for a row shorter than
//             2^-400, of which squares might be lost.
std::vector<double> norms_through(const Rows& rows, const RowView& view, std::size_t threads);

// upper += sum of (factor x)(factor x)^T, a factor for each row, of the columns that are used; upper
// triangle, row by row. Rows whose factor is 0 are left out, whatever they hold.
void add_weighted_products(const Rows& rows, const RowView& view, std::span<const std::uint64_t> numbers,
                           std::span<const double> factors, std::span<double> upper);

}  // namespace ration
