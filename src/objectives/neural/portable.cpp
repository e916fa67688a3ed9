#include "objectives/neural/portable.h"

#include "objectives/neural/position_site.h"

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

// Rows x groups x positions.
Tensor lengths(const Tensor& vectors) {
  return squares(vectors).sum(-1, false, torch::kDouble).sqrt();
}

}  // namespace

void add_position_norms(const Tensor& inputs, const Tensor& gradients, bool by_gram,
                        std::span<double> squared) {
  if (!by_gram) return add_sums(squares(torch::matmul(gradients.transpose(-2, -1), inputs)), squared);
  add_sums(gram(inputs) * gram(gradients), squared);
  const Tensor reach = (lengths(inputs) * lengths(gradients)).sum(-1);
  add_sums(gram_room(std::max(inputs.size(-1), gradients.size(-1))) * squares(reach), squared);
}

// The vector of a token that stands in n places is counted there n times, with a share of 1/n each.
void add_embedding_norms(const Tensor& ids, const Tensor& gradients, std::span<double> squared) {
  const Tensor is_same = (ids.unsqueeze(2) == ids.unsqueeze(1)).to(gradients.scalar_type());
  const Tensor sums = torch::matmul(is_same, gradients);
  add_sums(squares(sums).sum(-1, false, torch::kDouble) / is_same.sum(-1), squared);
}

void add_row_norms(const Tensor& rows_of, std::span<double> squared) {
  add_sums(squares(rows_of.reshape({rows_of.size(0), -1})), squared);
}

}  // namespace ration::nn
