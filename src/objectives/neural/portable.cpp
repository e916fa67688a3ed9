#include "objectives/neural/portable.h"

#include "objectives/neural/position_site.h"
#include "objectives/neural/small_products.h"

namespace ration::nn {
namespace {

using torch::Tensor;

// One number for each row, added up in 64 bits.
void add_sums(const Tensor& numbers, std::span<double> to) {
  const Tensor sums = numbers.flatten(1).sum(1, false, torch::kDouble).cpu();
  const double* const from = sums.data_ptr<double>();
  for (std::size_t row = 0; row < to.size(); ++row) to[row] += from[row];
}

Tensor squares(const Tensor& numbers) {
  return numbers * numbers;
}

// Of vectors along the last dimension, in 64 bits, where no square of a float is lost.
Tensor squared_lengths(const Tensor& vectors) {
  return squares(vectors.to(torch::kDouble)).sum(-1);
}

Tensor gram(const Tensor& vectors) {
  return torch::matmul(vectors, vectors.transpose(-2, -1));
}

// Where some vector is so short that its square has lost its digits in 32 bits.
Tensor has_lost_squares(const Tensor& squared, std::int64_t width) {
  return ((squared > 0) & (squared < smallest_exact_square(width))).any(-1);
}

}  // namespace

void add_position_norms(const Tensor& inputs, const Tensor& gradients, bool by_gram,
                        std::span<double> squared) {
  const Tensor of_inputs = squared_lengths(inputs);
  const Tensor of_gradients = squared_lengths(gradients);
  const Tensor reach = (of_inputs * of_gradients).sqrt().sum(-1);  // rows x groups
  if (!by_gram) {
    const Tensor forms = torch::matmul(gradients.transpose(-2, -1), inputs);
    const Tensor lengths = squared_lengths(forms.flatten(2)).sqrt();
    return add_sums(squares(lengths + sum_room(inputs.size(2)) * reach), squared);
  }
  Tensor sums = (gram(inputs) * gram(gradients)).flatten(2).sum(-1, false, torch::kDouble);
  sums = torch::where(sums < 0, torch::zeros_like(sums), sums);  // NaN stays NaN
  sums = sums + gram_room(std::max(inputs.size(-1), gradients.size(-1))) * squares(reach);
  const Tensor is_lost =
      has_lost_squares(of_inputs, inputs.size(-1)) | has_lost_squares(of_gradients, gradients.size(-1));
  add_sums(torch::where(is_lost, squares(reach), sums), squared);
}

// The vector of a token that stands in n places is counted there n times, with a share of 1/n each.
void add_embedding_norms(const Tensor& ids, const Tensor& gradients, std::span<double> squared) {
  const Tensor is_same = (ids.unsqueeze(2) == ids.unsqueeze(1)).to(gradients.scalar_type());
  const Tensor sums = torch::matmul(is_same, gradients);
  const Tensor places = is_same.sum(-1, false, torch::kDouble);
  const Tensor reach =
      torch::matmul(is_same.to(torch::kDouble), squared_lengths(gradients).sqrt().unsqueeze(-1)).squeeze(-1);
  const Tensor longest = squared_lengths(sums).sqrt() + sum_room(1) * places * reach;
  add_sums(squares(longest) / places, squared);
}

void add_row_norms(const Tensor& rows_of, std::span<double> squared) {
  add_sums(squared_lengths(rows_of.reshape({rows_of.size(0), -1})).unsqueeze(1), squared);
}

}  // namespace ration::nn
