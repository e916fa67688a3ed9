#pragma once

#include "objectives/neural/position_site.h"

namespace ration::nn {

// y = W x + b, x of shape rows x ... x inputs: whatever lies between is positions.
class LinearSite final : public PositionSite {
 public:
  using PositionSite::PositionSite;
  void add_use(Unchanged x, const torch::Tensor& gradient);

 private:
  PositionShape shape(std::size_t use) const override;
  torch::Tensor inputs_of_rows(std::size_t use, std::int64_t first, std::int64_t count) const override {
    return uses()[use].x.narrow(0, first, count).unsqueeze(1);
  }
  torch::Tensor gradients_of_rows(std::size_t use, std::int64_t first, std::int64_t count) const override {
    return uses()[use].g.narrow(0, first, count).unsqueeze(1);
  }
  const float* inputs(std::size_t use, std::int64_t row, std::int64_t group, float* scratch) const override;
  const float* gradients(std::size_t use, std::int64_t row, std::int64_t group,
                         float* scratch) const override;
  void form(std::size_t use, std::int64_t row, std::int64_t group, bool add, float* form) const override;
  torch::Tensor as_weight(const torch::Tensor& forms) const override;
  torch::Tensor bias_gradients() const override;
  void write_weighted_product(const torch::Tensor& factors) override;
  bool product_has_bias() const override {
    return kernels() == Kernels::fastest && uses().size() == 1 && shape(0).positions == 1;
  }
  void write_single_product(const torch::Tensor& factors);
};

}  // namespace ration::nn
