#include "objectives/neural/portable.h"

#include <algorithm>

namespace ration::nn {
namespace {

using torch::Tensor;

// One number for each row, added up in 64 bits; what rounding takes below zero is none.
void add_sums(const Tensor& numbers, std::span<double> to) {
  const Tensor sums = numbers.flatten(1).sum(1, false, torch::kDouble).clamp_min(0).cpu();
  const double* const from = sums.data_ptr<double>();
  for (std::size_t row = 0; row < to.size(); ++row) to[row] += from[row];
}

Tensor squares(const Tensor& numbers) {
  return numbers * numbers;
}

Tensor gram(const Tensor& vectors) {
  return torch::matmul(vectors, vectors.transpose(-2, -1));
}

}  // namespace

void add_position_norms(const Tensor& inputs, const Tensor& gradients, bool by_gram, std::int64_t most,
                        std::span<double> squared) {
  const std::int64_t rows = inputs.size(0);
  const std::int64_t of_row = by_gram ? 2 * inputs.size(1) * inputs.size(2) * inputs.size(2)
                                      : inputs.size(1) * inputs.size(3) * gradients.size(3);
  const std::int64_t at_once = std::clamp<std::int64_t>(most / std::max<std::int64_t>(1, of_row), 1, rows);
  for (std::int64_t first = 0; first < rows; first += at_once) {
    const std::int64_t count = std::min(at_once, rows - first);
    const Tensor a = inputs.narrow(0, first, count);
    const Tensor g = gradients.narrow(0, first, count);
    const Tensor numbers = by_gram ? gram(a) * gram(g) : squares(torch::matmul(g.transpose(-2, -1), a));
    add_sums(numbers, squared.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count)));
  }
}

void add_embedding_norms(const Tensor& ids, const Tensor& gradients, std::span<double> squared) {
  const Tensor is_same = ids.unsqueeze(2) == ids.unsqueeze(1);
  add_sums(gram(gradients) * is_same, squared);
}

void add_row_norms(const Tensor& rows_of, std::span<double> squared) {
  add_sums(squares(rows_of.reshape({rows_of.size(0), -1})), squared);
}

}  // namespace ration::nn
