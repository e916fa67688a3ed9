#pragma once

#include <array>

#include "objectives/neural/position_site.h"

namespace ration::nn {

// Along height and width; a convolution in one dimension has height 1.
struct ConvGeometry {
  std::array<std::int64_t, 2> stride{1, 1};
  std::array<std::int64_t, 2> padding{0, 0};
  std::array<std::int64_t, 2> dilation{1, 1};
  std::int64_t groups = 1;
};

// A convolution: its positions are the pixels of the output, the inputs of a position the patch under the kernel.
class ConvSite final : public PositionSite {
 public:
  // `weight` outputs x inputs/groups x height x width, or without height.
  ConvSite(torch::Tensor weight, torch::Tensor bias, const ConvGeometry& geometry);
  void add_use(Unchanged x, const torch::Tensor& gradient);

 private:
  PositionShape shape(std::size_t use) const override;
  void load_inputs(std::size_t use, std::int64_t row, std::int64_t group, std::int64_t first,
                   std::int64_t count, float* to) const override;
  const float* gradients(std::size_t use, std::int64_t row, std::int64_t group,
                         float* scratch) const override;
  torch::Tensor bias_gradients() const override;
  void write_weighted_product(const torch::Tensor& factors) override;

  ConvGeometry geometry_;
  std::array<std::int64_t, 2> kernel_;
};

}  // namespace ration::nn
