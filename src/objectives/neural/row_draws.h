#pragma once

#include <torch/types.h>

#include <cstdint>
#include <memory>
#include <span>

#include "base/keyed_bits.h"
#include "ration/objectives/neural/neural.h"

namespace ration::nn {

// The rows of the pass that runs on this thread, for layers that draw numbers. What a layer draws for a row
// depends on the row and on the pass, and not on its place among the others: one row more or less changes
// nobody else's masks.
class RowDraws {
 public:
  // While it lives, layers on this thread draw for these rows, from `bits`.
  RowDraws(std::span<const std::uint64_t> rows, KeyedBits& bits);
  ~RowDraws();
  RowDraws(const RowDraws&) = delete;
  RowDraws& operator=(const RowDraws&) = delete;

  // Of this thread, or null.
  static RowDraws* current();

  // Of the shape of x, whose first dimension is the rows: zero with probability p, else 1 / (1 - p). The
  // probability is rounded to a multiple of 2^-32.
  torch::Tensor mask(const torch::Tensor& x, double p);

 private:
  RowDraws* outer_;
  std::span<const std::uint64_t> rows_;
  KeyedBits& bits_;
  std::uint32_t draws_ = 0;  // of this pass so far
};

// make_neural() with masks from another source than the secure one. NOT PRIVATE unless that source is.
std::unique_ptr<Objective> make_neural_drawing_from(RandomSource& masks, Network network,
                                                    std::shared_ptr<const Rows> rows,
                                                    const NeuralOptions& options);

}  // namespace ration::nn
