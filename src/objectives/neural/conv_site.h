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

// A convolution: its positions are the pixels of the output, the inputs of a position the patch under the
// kernel.
//
// Positions are numbered by `spaced` lines: those of the output, and between two lines so many positions
// where the gradient counts as zero that position p + 1 always reads one number further in the image. All
// that one weight reads, over all positions, is then one piece of memory, if the image is split into its
// phases: a stride of 2 reads either the even or the odd numbers.
class ConvSite final : public PositionSite {
 public:
  // `weight` outputs x inputs/groups x height x width, or without height.
  ConvSite(std::int64_t rows, torch::Tensor weight, torch::Tensor bias, Kernels kernels,
           const ConvGeometry& geometry);
  void add_use(Unchanged x, const torch::Tensor& gradient);

 private:
  PositionShape shape(std::size_t use) const override;
  std::int64_t readers() const override { return kernel_[0] * kernel_[1]; }
  void form(std::size_t use, std::int64_t row, std::int64_t group, bool add, float* form) const override;
  torch::Tensor as_weight(const torch::Tensor& forms) const override;
  const float* inputs(std::size_t use, std::int64_t row, std::int64_t group, float* scratch) const override;
  const float* gradients(std::size_t use, std::int64_t row, std::int64_t group,
                         float* scratch) const override;
  torch::Tensor inputs_of_rows(std::size_t use, std::int64_t first, std::int64_t count) const override;
  torch::Tensor gradients_of_rows(std::size_t use, std::int64_t first, std::int64_t count) const override;
  torch::Tensor bias_gradients() const override;
  void write_weighted_product(const torch::Tensor& factors) override;

  // Lines and columns of the output.
  std::array<std::int64_t, 2> output(std::size_t use) const;
  // Size of one phase of the padded image.
  std::array<std::int64_t, 2> phase(std::size_t use) const;
  std::int64_t spaced(std::size_t use) const;
  // channels x phases x height x width of a phase, in scratch.
  const float* phases(std::size_t use, std::int64_t row, std::int64_t group) const;
  // What the weights read at positions first, ..., first + count - 1: inputs x count.
  void gather(std::size_t use, const float* phases, std::int64_t first, std::int64_t count, float* to) const;
  // Gradients at all positions: spaced x outputs, in scratch.
  const float* spaced_gradients(std::size_t use, std::int64_t row, std::int64_t group) const;

  ConvGeometry geometry_;
  std::array<std::int64_t, 2> kernel_;
};

}  // namespace ration::nn
