#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "ration/data/rows.h"

namespace ration {

// The two products every linear model is made of, over a few drawn rows. Several outputs per row lie next to
// each other: output k of the r-th drawn row is at [r * outputs + k].

// Asks the processor for rows that will be needed soon: drawn rows lie anywhere in memory, where it cannot
// guess them.
void prefetch_rows(const Rows& table, std::span<const std::uint64_t> rows);

// products[r * outputs + k] = <x_rows[r], w_k>, w_k = weights[k * columns, ...].
void multiply_rows(const Rows& table, std::span<const std::uint64_t> rows, std::span<const double> weights,
                   std::size_t outputs, double* products);

// The same with two vectors of weights, in little more than the time of one.
void multiply_rows_by_two(const Rows& table, std::span<const std::uint64_t> rows,
                          std::span<const double> first, std::span<const double> second, std::size_t outputs,
                          double* firsts, double* seconds);

// sum_k += sum over r of factors[r * outputs + k] x_rows[r]. The rows must hold finite numbers only.
void add_weighted_rows(const Rows& table, std::span<const std::uint64_t> rows, const double* factors,
                       std::size_t outputs, std::span<double> sum);

}  // namespace ration
