#include "objectives/neural/small_products.h"

#include <libxsmm.h>

#include <Eigen/Core>
#include <algorithm>
#include <cstring>

#include "base/per_processor.h"

namespace ration::nn {
namespace {

constexpr std::int64_t kBlock = 1024;  // floats that are added up before they are added in double
constexpr std::int64_t kLanes = 64;

using Four [[gnu::vector_size(16)]] = float;

Four load_four(const float* from) {
  Four values;
  std::memcpy(&values, from, sizeof(values));
  return values;
}

// Four rows of four numbers, `stride` apart, as four columns.
void transpose_four(const float* from, std::int64_t stride, float* to, std::int64_t to_stride) {
  const Four a = load_four(from), b = load_four(from + stride);
  const Four c = load_four(from + 2 * stride), d = load_four(from + 3 * stride);
  const Four low_ab = __builtin_shufflevector(a, b, 0, 4, 1, 5);
  const Four low_cd = __builtin_shufflevector(c, d, 0, 4, 1, 5);
  const Four high_ab = __builtin_shufflevector(a, b, 2, 6, 3, 7);
  const Four high_cd = __builtin_shufflevector(c, d, 2, 6, 3, 7);
  const Four columns[4] = {__builtin_shufflevector(low_ab, low_cd, 0, 1, 4, 5),
                           __builtin_shufflevector(low_ab, low_cd, 2, 3, 6, 7),
                           __builtin_shufflevector(high_ab, high_cd, 0, 1, 4, 5),
                           __builtin_shufflevector(high_ab, high_cd, 2, 3, 6, 7)};
  for (std::int64_t k = 0; k < 4; ++k) std::memcpy(to + k * to_stride, &columns[k], sizeof(Four));
}

// Several sums next to each other, as wide as the widest vectors.
RATION_INLINE double sum_of_products(const float* a, const float* b, std::int64_t count) {
  double sum = 0;
  for (std::int64_t first = 0; first < count; first += kBlock) {
    const std::int64_t end = std::min(first + kBlock, count);
    float sums[kLanes] = {};
    std::int64_t i = first;
    for (; i + kLanes <= end; i += kLanes) {
      for (std::int64_t lane = 0; lane < kLanes; ++lane) sums[lane] += a[i + lane] * b[i + lane];
    }
    for (; i < end; ++i) sums[i % kLanes] += a[i] * b[i];
    for (std::int64_t half = kLanes / 2; half > 0; half /= 2) {
      for (std::int64_t lane = 0; lane < half; ++lane) sums[lane] += sums[lane + half];
    }
    sum += static_cast<double>(sums[0]);
  }
  return sum;
}

}  // namespace

SmallProduct::SmallProduct(std::int64_t m, std::int64_t n, std::int64_t k, bool add, Second second)
    : m_(m), n_(n), k_(k), add_(add), second_(second) {
  const float one = 1;
  const float beta = add ? 1 : 0;
  const int flags = second == Second::by_row ? LIBXSMM_GEMM_FLAG_TRANS_B : LIBXSMM_GEMM_FLAG_NONE;
  const auto length_of_b = static_cast<libxsmm_blasint>(second == Second::by_row ? n : k);
  kernel_ = libxsmm_smmdispatch(static_cast<libxsmm_blasint>(m), static_cast<libxsmm_blasint>(n),
                                static_cast<libxsmm_blasint>(k), nullptr, &length_of_b, nullptr, &one, &beta,
                                &flags, nullptr);
}

void SmallProduct::operator()(const float* a, const float* b, float* c) const {
  if (kernel_ != nullptr) return kernel_(a, b, c);
  Eigen::Map<Eigen::MatrixXf> out(c, m_, n_);
  if (!add_) out.setZero();
  const Eigen::Map<const Eigen::MatrixXf> first(a, m_, k_);
  if (second_ == Second::by_column) {
    out.noalias() += first * Eigen::Map<const Eigen::MatrixXf>(b, k_, n_);
  } else {
    out.noalias() += first * Eigen::Map<const Eigen::MatrixXf>(b, n_, k_).transpose();
  }
}

void transpose(const float* from, std::int64_t rows, std::int64_t columns, float* to) {
  transpose_part(from, rows, columns, columns, to);
}

void transpose_part(const float* from, std::int64_t rows, std::int64_t columns, std::int64_t stride,
                    float* to) {
  const std::int64_t whole_rows = rows - rows % 4;
  const std::int64_t whole_columns = columns - columns % 4;
  for (std::int64_t j = 0; j < whole_columns; j += 4) {
    for (std::int64_t i = 0; i < whole_rows; i += 4) {
      transpose_four(from + i * stride + j, stride, to + j * rows + i, rows);
    }
    for (std::int64_t i = whole_rows; i < rows; ++i) {
      for (std::int64_t k = j; k < j + 4; ++k) to[k * rows + i] = from[i * stride + k];
    }
  }
  for (std::int64_t j = whole_columns; j < columns; ++j) {
    for (std::int64_t i = 0; i < rows; ++i) to[j * rows + i] = from[i * stride + j];
  }
}

double smallest_exact_square(std::int64_t count) {
  return 0x1p-102 * static_cast<double>(count);
}

double squared_length(const float* values, std::int64_t count) {
  const double squared = dot(values, values, count);
  if (!(squared < smallest_exact_square(count))) return squared;
  double exact = 0;
  for (std::int64_t i = 0; i < count; ++i)
    exact += static_cast<double>(values[i]) * static_cast<double>(values[i]);
  return exact;
}

double dot(const float* a, const float* b, std::int64_t count) {
  return PerProcessor<sum_of_products>::call(a, b, count);
}

}  // namespace ration::nn
