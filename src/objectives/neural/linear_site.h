#pragma once

#include <vector>

#include "objectives/neural/position_site.h"

namespace ration::nn {

// y = W x + b, x of shape rows x ... x inputs: whatever lies between is positions.
class LinearSite final : public PositionSite {
 public:
  using PositionSite::PositionSite;
  void add_use(Unchanged x, const torch::Tensor& gradient);

 private:
  struct Use {
    torch::Tensor x;  // rows x positions x inputs
    torch::Tensor g;  // rows x positions x outputs
  };

  std::size_t uses() const override { return uses_.size(); }
  PositionShape shape(std::size_t use) const override;
  void load_inputs(std::size_t use, std::int64_t row, std::int64_t group, std::int64_t first,
                   std::int64_t count, float* to) const override;
  const float* gradients(std::size_t use, std::int64_t row, std::int64_t group,
                         float* scratch) const override;
  torch::Tensor bias_gradients() const override;
  void write_weighted_product(const torch::Tensor& factors) override;
  void forget_positions(const torch::Tensor& rows) override;

  std::vector<Use> uses_;
};

}  // namespace ration::nn
