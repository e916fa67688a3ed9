#pragma once

#include <cstdint>
#include <vector>

#include "ration/base/random.h"

namespace ration {

// Each of the rows 0, ..., rows - 1 independently with probability `rate`, in increasing order, into `out`.
//
// Cost        O(rows drawn), whatever `rows` is: the gaps between drawn rows are geometric. Allocates only if
//             `out` has too little capacity.
// Guarantee   exactly that, given ideal random bits (base/geometric_gaps.h).
// Edge cases  rate = 0 draws none, rate = 1 draws all; 0 <= rate <= 1, rows <= 2^53.
void sample_poisson(RandomSource& random, std::uint64_t rows, double rate, std::vector<std::uint64_t>& out);

// `size` different rows of 0, ..., rows - 1, every such set equally likely, in increasing order, into `out`.
//
// Cost        O(size log size), whatever `rows` is.
// Edge cases  size = 0 draws none, size = rows draws all; size <= rows <= 2^53.
void sample_subset(RandomSource& random, std::uint64_t rows, std::uint64_t size,
                   std::vector<std::uint64_t>& out);

}  // namespace ration
