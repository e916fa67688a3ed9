#pragma once

#include <torch/types.h>

#include <cstdint>
#include <span>

namespace ration::nn {

// What the loops over rows compute, by operations of whole tensors: for devices whose memory a program cannot walk through. Slower
// than the loops on a processor, and the same to the last digits.

// A layer y = W a at several positions: `inputs` and `gradients` rows x groups x positions x numbers, of all uses side by side.
// squared[i] += |sum_p g_p a_p^T|^2, some rows at a time so that no more than `most` numbers are formed, or one row's.
void add_position_norms(const torch::Tensor& inputs, const torch::Tensor& gradients, bool by_gram,
                        std::int64_t most, std::span<double> squared);

// `ids` rows x positions, `gradients` rows x positions x width: squared[i] += |gradient of row i's vectors|^2.
void add_embedding_norms(const torch::Tensor& ids, const torch::Tensor& gradients, std::span<double> squared);

// squared[i] += |rows_of[i]|^2, any shape of a row.
void add_row_norms(const torch::Tensor& rows_of, std::span<double> squared);

}  // namespace ration::nn
