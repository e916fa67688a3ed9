// For extensions: may change between minor versions.
#pragma once

#include <cstdint>
#include <span>

#include "ration/privacy/relation.h"

namespace ration {

// By how much a query over the rows of a batch can change between neighbours, C being the bound on what one
// row contributes. Each figure is reached, but for (4m - 3) C^2, which is C^2 above the truth for m >= 2.
// Throws InputError unless C > 0.
//
// The factor 2 under replace_one is not optional: the row that leaves and the row that comes may point in
// opposite directions. Of losses in [0, C] they cannot, so there it is 1. [L2P, Lemma A.3] uses the
// add_remove figures together with fixed-size batches, whose amplification is for replace_one; use
// replace_one there.

// Sum of gradients of norm at most C: C, or 2C. In L2.
double gradient_sum_sensitivity(double bound, Relation relation);

// Sum of losses clipped into [0, C]: C under either relation.
double loss_sum_sensitivity(double bound, Relation relation);

// Sum of differences l(w) - l(w') of clipped losses, each in [-C, C]: C, or 2C.
double loss_difference_sensitivity(double bound, Relation relation);

// Squared norm of a sum over exactly m >= 1 rows of gradients of norm at most C: (2m - 1) C^2, or (4m - 3)
// C^2; m is the larger of the two numbers of rows under add_remove. Needs m to be public: full or fixed-size
// batches only. With s the sum of the other m - 1 rows: |s + a|^2 - |s + b|^2 = 2 <s, a - b> + |a|^2 - |b|^2
// <= 4 (m - 1) C^2 + C^2.
double squared_norm_sensitivity(double bound, std::uint64_t rows, Relation relation);

// Sum of z z^T, |z| <= C, as its diagonal and sqrt(2) times what is above it, whose L2 norm is the matrix's
// Frobenius norm: C^2, or sqrt(2) C^2, since |a a^T - b b^T|^2 = |a|^4 + |b|^4 - 2 <a, b>^2 <= 2 C^4.
double second_moment_sensitivity(double bound, Relation relation);

// Number of rows with some property: a row counts 0 or 1, so 1 under either relation.
double count_sensitivity(Relation relation);

// Histogram to which a row adds 1 in one place: 1 under add_remove, 2 under replace_one, where two places
// change. In L1.
double histogram_sensitivity_l1(Relation relation);
// The same in L2: 1, or the square root of 2.
double histogram_sensitivity_l2(Relation relation);

// The bound of a gradient whose layers are clipped one by one, each to its own R_l > 0: sqrt(sum R_l^2).
double joint_bound(std::span<const double> layer_bounds);

}  // namespace ration
