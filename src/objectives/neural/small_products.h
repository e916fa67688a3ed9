#pragma once

#include <cstdint>

namespace ration::nn {

// Sums over the positions of one row: tokens of a text, pixels of an image. Everything is column-major, as in BLAS:
// C (m x n) += or = A (m x k) B (k x n), leading dimensions m, k and m.
class SmallProduct {
 public:
  SmallProduct(std::int64_t m, std::int64_t n, std::int64_t k, bool add);
  void operator()(const float* a, const float* b, float* c) const;

 private:
  using Kernel = void (*)(const float*, const float*, float*, ...);
  Kernel kernel_;  // made for these sizes and this processor; null where libxsmm knows none
  std::int64_t m_, n_, k_;
  bool add_;
};

// to[j * rows + i] = from[i * columns + j]
void transpose(const float* from, std::int64_t rows, std::int64_t columns, float* to);

double squared_length(const float* values, std::int64_t count);
// sum_i a[i] b[i]
double dot(const float* a, const float* b, std::int64_t count);

}  // namespace ration::nn
