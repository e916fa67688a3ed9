#include "objectives/glm/row_products.h"

#include <algorithm>
#include <array>

#include "base/per_processor.h"

namespace ration {
namespace {

constexpr std::size_t kTogether = 4;  // rows in one pass over the weights
constexpr std::size_t kLanes = 4;
using Lanes [[gnu::vector_size(kLanes * sizeof(double)), gnu::aligned(sizeof(double)), gnu::may_alias]] =
    double;

RATION_INLINE const Lanes& lanes_at(const double* values) {
  return *reinterpret_cast<const Lanes*>(values);
}

template <class T>
RATION_INLINE void prefetch(std::span<const T> values) {
  constexpr std::size_t kCacheLine = 64;
  const char* const bytes = reinterpret_cast<const char*>(values.data());
  for (std::size_t i = 0; i < values.size_bytes(); i += kCacheLine) __builtin_prefetch(bytes + i);
}

// Four dense rows with one vector of weights: products[r * stride].
RATION_INLINE void multiply_four(const double* const* rows, const double* weights, std::size_t columns,
                                 double* products, std::size_t stride) {
  const double* const a = rows[0];
  const double* const b = rows[1];
  const double* const c = rows[2];
  const double* const d = rows[3];
  Lanes sum_a{}, sum_b{}, sum_c{}, sum_d{};
  std::size_t j = 0;
  for (; j + kLanes <= columns; j += kLanes) {
    const Lanes weight = lanes_at(weights + j);
    sum_a += lanes_at(a + j) * weight;
    sum_b += lanes_at(b + j) * weight;
    sum_c += lanes_at(c + j) * weight;
    sum_d += lanes_at(d + j) * weight;
  }
  double rest[kTogether] = {};
  for (; j < columns; ++j) {
    for (std::size_t r = 0; r < kTogether; ++r) rest[r] += rows[r][j] * weights[j];
  }
  const Lanes* const sums[] = {&sum_a, &sum_b, &sum_c, &sum_d};
  for (std::size_t r = 0; r < kTogether; ++r) {
    const Lanes& lanes = *sums[r];
    products[r * stride] = (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]) + rest[r];
  }
}

// sum += f0 a + f1 b + f2 c + f3 d.
RATION_INLINE void add_four(const double* const* rows, const double* factors, std::size_t columns,
                            double* __restrict sum) {
  const double* __restrict const a = rows[0];
  const double* __restrict const b = rows[1];
  const double* __restrict const c = rows[2];
  const double* __restrict const d = rows[3];
  for (std::size_t j = 0; j < columns; ++j) {
    sum[j] += (factors[0] * a[j] + factors[1] * b[j]) + (factors[2] * c[j] + factors[3] * d[j]);
  }
}

// Four rows from the first-th on; where there are fewer, the last one again.
std::array<const double*, kTogether> four_rows(const Rows& table, std::span<const std::uint64_t> rows,
                                               std::size_t first) {
  std::array<const double*, kTogether> pointers;
  for (std::size_t r = 0; r < kTogether; ++r) {
    pointers[r] = table.dense_row(rows[std::min(first + r, rows.size() - 1)]).data();
  }
  return pointers;
}

void multiply_dense(const Rows& table, std::span<const std::uint64_t> rows, std::span<const double> weights,
                    std::size_t outputs, double* products) {
  for (std::size_t first = 0; first < rows.size(); first += kTogether) {
    const auto pointers = four_rows(table, rows, first);
    const std::size_t present = std::min(kTogether, rows.size() - first);
    for (std::size_t k = 0; k < outputs; ++k) {
      std::array<double, kTogether> four;
      PerProcessor<multiply_four>::call(pointers.data(), weights.data() + k * table.columns(),
                                        table.columns(), four.data(), 1);
      for (std::size_t r = 0; r < present; ++r) products[(first + r) * outputs + k] = four[r];
    }
  }
}

void add_dense(const Rows& table, std::span<const std::uint64_t> rows, const double* factors,
               std::size_t outputs, std::span<double> sum) {
  for (std::size_t first = 0; first < rows.size(); first += kTogether) {
    const auto pointers = four_rows(table, rows, first);
    const std::size_t present = std::min(kTogether, rows.size() - first);
    for (std::size_t k = 0; k < outputs; ++k) {
      std::array<double, kTogether> four{};  // rows that are there again count 0 times
      for (std::size_t r = 0; r < present; ++r) four[r] = factors[(first + r) * outputs + k];
      PerProcessor<add_four>::call(pointers.data(), four.data(), table.columns(),
                                   sum.data() + k * table.columns());
    }
  }
}

RATION_INLINE double multiply_sparse(const Rows::SparseRow& row, const double* weights) {
  const std::int32_t* const indices = row.indices.data();
  const double* const values = row.values.data();
  double even = 0;
  double odd = 0;
  std::size_t entry = 0;
#pragma GCC unroll 4
  for (; entry + 1 < row.values.size(); entry += 2) {
    even += values[entry] * weights[indices[entry]];
    odd += values[entry + 1] * weights[indices[entry + 1]];
  }
  if (entry < row.values.size()) even += values[entry] * weights[indices[entry]];
  return even + odd;
}

struct Two {
  double first, second;
};

// Values and indices are read once for both, which is half of the work.
RATION_INLINE Two multiply_sparse(const Rows::SparseRow& row, const double* first, const double* second) {
  const std::int32_t* const indices = row.indices.data();
  const double* const values = row.values.data();
  Two even{}, odd{};
  const auto add = [&](Two& sum, std::size_t entry) {
    sum.first += values[entry] * first[indices[entry]];
    sum.second += values[entry] * second[indices[entry]];
  };
  std::size_t entry = 0;
#pragma GCC unroll 4
  for (; entry + 1 < row.values.size(); entry += 2) {
    add(even, entry);
    add(odd, entry + 1);
  }
  if (entry < row.values.size()) add(even, entry);
  return {even.first + odd.first, even.second + odd.second};
}

RATION_INLINE void add_sparse(const Rows::SparseRow& row, double factor, double* __restrict sum) {
  const std::int32_t* __restrict const indices = row.indices.data();
  const double* __restrict const values = row.values.data();
#pragma GCC unroll 8
  for (std::size_t entry = 0; entry < row.values.size(); ++entry)
    sum[indices[entry]] += factor * values[entry];
}

RATION_INLINE void multiply_sparse_rows(const Rows& table, std::span<const std::uint64_t> rows,
                                        std::span<const double> weights, std::size_t outputs,
                                        double* products) {
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const Rows::SparseRow row = table.sparse_row(rows[r]);
    for (std::size_t k = 0; k < outputs; ++k) {
      products[r * outputs + k] = multiply_sparse(row, weights.data() + k * table.columns());
    }
  }
}

RATION_INLINE void multiply_sparse_rows_by_two(const Rows& table, std::span<const std::uint64_t> rows,
                                               std::span<const double> first, std::span<const double> second,
                                               std::size_t outputs, double* firsts, double* seconds) {
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const Rows::SparseRow row = table.sparse_row(rows[r]);
    for (std::size_t k = 0; k < outputs; ++k) {
      const std::size_t start = k * table.columns();
      const Two products = multiply_sparse(row, first.data() + start, second.data() + start);
      firsts[r * outputs + k] = products.first;
      seconds[r * outputs + k] = products.second;
    }
  }
}

RATION_INLINE void add_sparse_rows(const Rows& table, std::span<const std::uint64_t> rows,
                                   const double* factors, std::size_t outputs, std::span<double> sum) {
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const Rows::SparseRow row = table.sparse_row(rows[r]);
    for (std::size_t k = 0; k < outputs; ++k) {
      add_sparse(row, factors[r * outputs + k], sum.data() + k * table.columns());
    }
  }
}

}  // namespace

void prefetch_rows(const Rows& table, std::span<const std::uint64_t> rows) {
  for (const std::uint64_t row : rows) {
    __builtin_prefetch(&table.labels()[row]);
    __builtin_prefetch(&table.norms()[row]);
    if (table.is_dense()) {
      prefetch(table.dense_row(row));
    } else {
      const Rows::SparseRow sparse = table.sparse_row(row);
      prefetch(sparse.indices);
      prefetch(sparse.values);
    }
  }
}

void multiply_rows(const Rows& table, std::span<const std::uint64_t> rows, std::span<const double> weights,
                   std::size_t outputs, double* products) {
  (table.is_dense() ? multiply_dense : PerProcessor<multiply_sparse_rows>::call)(table, rows, weights,
                                                                                 outputs, products);
}

void multiply_rows_by_two(const Rows& table, std::span<const std::uint64_t> rows,
                          std::span<const double> first, std::span<const double> second, std::size_t outputs,
                          double* firsts, double* seconds) {
  if (table.is_dense()) {
    multiply_dense(table, rows, first, outputs, firsts);
    multiply_dense(table, rows, second, outputs, seconds);
  } else {
    PerProcessor<multiply_sparse_rows_by_two>::call(table, rows, first, second, outputs, firsts, seconds);
  }
}

void add_weighted_rows(const Rows& table, std::span<const std::uint64_t> rows, const double* factors,
                       std::size_t outputs, std::span<double> sum) {
  (table.is_dense() ? add_dense : PerProcessor<add_sparse_rows>::call)(table, rows, factors, outputs, sum);
}

}  // namespace ration
