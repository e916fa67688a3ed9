#include "objectives/neural/conv_site.h"

#include <ATen/ops/convolution_backward.h>

#include <algorithm>

namespace ration::nn {
namespace {

// Rows x channels x height x width, height 1 if there is none.
torch::Tensor as_images(const torch::Tensor& tensor) {
  const torch::Tensor plain = tensor.detach();
  return (plain.dim() == 3 ? plain.unsqueeze(2) : plain).contiguous();
}

// One line of the kernel over one line of the image, zeros where it hangs over the edge.
void copy_line(const float* line, std::int64_t width, std::int64_t start, std::int64_t dilation,
               std::int64_t count, float* to) {
  if (dilation == 1 && start >= 0 && start + count <= width) {
    std::copy(line + start, line + start + count, to);
    return;
  }
  for (std::int64_t k = 0; k < count; ++k) {
    const std::int64_t at = start + k * dilation;
    to[k] = at >= 0 && at < width ? line[at] : 0;
  }
}

}  // namespace

ConvSite::ConvSite(torch::Tensor weight, torch::Tensor bias, const ConvGeometry& geometry)
    : PositionSite(weight, std::move(bias)),
      geometry_(geometry),
      kernel_{weight.dim() == 3 ? 1 : weight.size(2), weight.size(-1)} {}

void ConvSite::add_use(Unchanged x, const torch::Tensor& gradient) {
  keep({as_images(x.get()), as_images(gradient)});
}

PositionShape ConvSite::shape(std::size_t use) const {
  const Use& one = uses()[use];
  return {.rows = one.x.size(0),
          .positions = one.g.size(2) * one.g.size(3),
          .inputs = one.x.size(1) / geometry_.groups * kernel_[0] * kernel_[1],
          .outputs = one.g.size(1) / geometry_.groups,
          .groups = geometry_.groups};
}

void ConvSite::load_inputs(std::size_t use, std::int64_t row, std::int64_t group, std::int64_t first,
                           std::int64_t count, float* to) const {
  const torch::Tensor& x = uses()[use].x;
  const std::int64_t channels = x.size(1) / geometry_.groups;
  const std::int64_t height = x.size(2);
  const std::int64_t width = x.size(3);
  const std::int64_t columns = uses()[use].g.size(3);
  const float* const image = x.data_ptr<float>() + (row * x.size(1) + group * channels) * height * width;
  for (std::int64_t position = first; position < first + count; ++position) {
    const std::int64_t top = position / columns * geometry_.stride[0] - geometry_.padding[0];
    const std::int64_t left = position % columns * geometry_.stride[1] - geometry_.padding[1];
    for (std::int64_t channel = 0; channel < channels; ++channel) {
      for (std::int64_t k = 0; k < kernel_[0]; ++k, to += kernel_[1]) {
        const std::int64_t y = top + k * geometry_.dilation[0];
        if (y < 0 || y >= height) {
          std::fill(to, to + kernel_[1], 0.0f);
        } else {
          copy_line(image + (channel * height + y) * width, width, left, geometry_.dilation[1], kernel_[1],
                    to);
        }
      }
    }
  }
}

const float* ConvSite::gradients(std::size_t use, std::int64_t row, std::int64_t group, float*) const {
  const PositionShape one = shape(use);
  return uses()[use].g.data_ptr<float>() + (row * one.groups + group) * one.outputs * one.positions;
}

torch::Tensor ConvSite::bias_gradients() const {
  torch::Tensor sum = uses()[0].g.sum({2, 3});
  for (std::size_t use = 1; use < uses().size(); ++use) sum = sum + uses()[use].g.sum({2, 3});
  return sum;
}

void ConvSite::write_weighted_product(const torch::Tensor& factors) {
  const torch::Tensor kernel = weight().dim() == 3 ? weight().detach().unsqueeze(2) : weight().detach();
  torch::Tensor out = weight().mutable_grad();
  for (std::size_t use = 0; use < uses().size(); ++use) {
    const Use& one = uses()[use];
    const auto [x_gradient, sum, bias_gradient] = at::convolution_backward(
        one.g * factors.view({-1, 1, 1, 1}), one.x, kernel, at::OptionalIntArrayRef(), geometry_.stride,
        geometry_.padding, geometry_.dilation, false, {0, 0}, geometry_.groups, {false, true, false});
    if (use == 0) {
      out.copy_(sum.view_as(out));
    } else {
      out.add_(sum.view_as(out));
    }
  }
}

}  // namespace ration::nn
