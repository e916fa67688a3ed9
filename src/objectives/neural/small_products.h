#pragma once

#include <cstdint>

namespace ration::nn {

enum class Second { by_column, by_row };

// Sums over the positions of one row: tokens of a text, pixels of an image. Column after column, as in BLAS:
// C (m x n) += or = A (m x k) B (k x n); only B may also lie row after row.
class SmallProduct {
 public:
  SmallProduct(std::int64_t m, std::int64_t n, std::int64_t k, bool add, Second second = Second::by_column);
  void operator()(const float* a, const float* b, float* c) const;

 private:
  using Kernel = void (*)(const float*, const float*, float*, ...);
  Kernel kernel_;  // made for these sizes and this processor; null where libxsmm knows none
  std::int64_t m_, n_, k_;
  bool add_;
  Second second_;
};

// to[j * rows + i] = from[i * columns + j]
void transpose(const float* from, std::int64_t rows, std::int64_t columns, float* to);
// The same for columns out of a matrix whose rows are `stride` long: to[j * rows + i] = from[i * stride + j]
void transpose_part(const float* from, std::int64_t rows, std::int64_t columns, std::int64_t stride,
                    float* to);

// Right within 2^-19 of it whatever the size of the numbers; infinite or NaN if a square is no float.
double squared_length(const float* values, std::int64_t count);
// A sum of `count` squares of floats below this may have lost its digits: squares below 2^-126 have, and each
// is off by less than that, so that a sum of this size is off by 2^-24 of it.
double smallest_exact_square(std::int64_t count);
// sum_i a[i] b[i]
double dot(const float* a, const float* b, std::int64_t count);

}  // namespace ration::nn
