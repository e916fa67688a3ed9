#pragma once

#include <torch/types.h>

#include <algorithm>
#include <cstdint>
#include <span>

namespace ration::nn {

// What the loops over rows compute, by operations of whole tensors: for devices whose memory a program cannot
// walk through. Slower than the loops on a processor.

// work(first, count) for ranges of rows, so that a range has no more than `most` numbers, `of_row` in each
// row, or is a single row.
template <class Work>
void for_row_ranges(std::int64_t rows, std::int64_t of_row, std::int64_t most, const Work& work) {
  const std::int64_t at_once = std::max<std::int64_t>(1, most / std::max<std::int64_t>(1, of_row));
  for (std::int64_t first = 0; first < rows; first += at_once) work(first, std::min(at_once, rows - first));
}

// A layer y = W a at several positions: `inputs` and `gradients` rows x groups x positions x numbers, of all
// uses side by side. squared[i] += |sum_p g_p a_p^T|^2; by Gram matrices with their gram_room().
void add_position_norms(const torch::Tensor& inputs, const torch::Tensor& gradients, bool by_gram,
                        std::span<double> squared);

// `ids` rows x positions, `gradients` rows x positions x width: squared[i] += |gradient of row i's
// vectors|^2.
void add_embedding_norms(const torch::Tensor& ids, const torch::Tensor& gradients, std::span<double> squared);

// squared[i] += |rows_of[i]|^2, any shape of a row.
void add_row_norms(const torch::Tensor& rows_of, std::span<double> squared);

}  // namespace ration::nn
