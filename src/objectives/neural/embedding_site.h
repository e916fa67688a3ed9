#pragma once

#include <vector>

#include "ration/objectives/neural/tape.h"

namespace ration::nn {

// A table of vectors, looked up by token. The gradient of row i has one vector for each of its different
// tokens, the sum over the places where the token stands: no dense gradient of a row is ever formed. Where
// these cancel, the most that rounding can have taken from their sum is added to its length (sum_room).
class EmbeddingSite final : public Site {
 public:
  EmbeddingSite(std::int64_t rows, torch::Tensor weight, Kernels kernels)
      : Site(rows), weight_(std::move(weight)), kernels_(kernels) {}
  // `ids` rows x ..., `gradient` rows x ... x width.
  void add_use(const torch::Tensor& ids, const torch::Tensor& gradient);

  std::vector<torch::Tensor> parameters() const override { return {weight_}; }
  void add_squared_norms(std::span<double> squared) override;
  void write_weighted(const torch::Tensor& factors) override;
  void forget_rows(const torch::Tensor& rows) override;

 private:
  void join();
  void add_portable_norms(std::span<double> squared);

  torch::Tensor weight_;
  Kernels kernels_;
  std::vector<torch::Tensor> ids_;        // rows x positions, 64 bits
  std::vector<torch::Tensor> gradients_;  // rows x positions x width
};

}  // namespace ration::nn
