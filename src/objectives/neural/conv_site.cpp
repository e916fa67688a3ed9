#include "objectives/neural/conv_site.h"

#include <ATen/ops/convolution_backward.h>
#include <ATen/ops/im2col.h>

#include <algorithm>

#include "objectives/neural/small_products.h"

namespace ration::nn {
namespace {

// Rows x channels x height x width, height 1 if there is none.
torch::Tensor as_images(const torch::Tensor& tensor) {
  const torch::Tensor plain = tensor.detach();
  return (plain.dim() == 3 ? plain.unsqueeze(2) : plain).contiguous();
}

constexpr std::int64_t kTile = 1 << 15;  // floats of gathered inputs, which stay in cache

enum Slot : std::size_t { kPhases = 4, kSpaced, kGathered };

// to[i] = line[start + i * stride], zero outside of the line.
void copy_phase(const float* line, std::int64_t width, std::int64_t start, std::int64_t stride,
                std::int64_t count, float* to) {
  const std::int64_t before = std::clamp<std::int64_t>((stride - 1 - start) / stride, 0, count);
  const std::int64_t end = std::clamp<std::int64_t>((width - start + stride - 1) / stride, before, count);
  std::fill(to, to + before, 0.0f);
  if (stride == 1) {
    std::copy(line + start + before, line + start + end, to + before);
  } else {
    for (std::int64_t i = before; i < end; ++i) to[i] = line[start + i * stride];
  }
  std::fill(to + end, to + count, 0.0f);
}

}  // namespace

ConvSite::ConvSite(std::int64_t rows, torch::Tensor weight, torch::Tensor bias, Kernels kernels,
                   const ConvGeometry& geometry)
    : PositionSite(rows, weight, std::move(bias), kernels),
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

std::array<std::int64_t, 2> ConvSite::output(std::size_t use) const {
  return {uses()[use].g.size(2), uses()[use].g.size(3)};
}

std::array<std::int64_t, 2> ConvSite::phase(std::size_t use) const {
  std::array<std::int64_t, 2> size = output(use);
  for (std::size_t d = 0; d < 2; ++d) {
    size[d] += (kernel_[d] - 1) * geometry_.dilation[d] / geometry_.stride[d];
  }
  return size;
}

std::int64_t ConvSite::spaced(std::size_t use) const {
  return (output(use)[0] - 1) * phase(use)[1] + output(use)[1];
}

const float* ConvSite::phases(std::size_t use, std::int64_t row, std::int64_t group) const {
  const torch::Tensor& x = uses()[use].x;
  const std::int64_t channels = x.size(1) / geometry_.groups;
  const std::int64_t height = x.size(2);
  const std::int64_t width = x.size(3);
  const auto [lines, columns] = phase(use);
  const auto [down, across] = geometry_.stride;
  float* const all = scratch(kPhases, channels * down * across * lines * columns);
  float* to = all;
  const float* image = x.data_ptr<float>() + (row * x.size(1) + group * channels) * height * width;
  for (std::int64_t channel = 0; channel < channels; ++channel, image += height * width) {
    for (std::int64_t phase = 0; phase < down * across; ++phase) {
      const std::int64_t left = phase % across - geometry_.padding[1];
      for (std::int64_t line = 0; line < lines; ++line, to += columns) {
        const std::int64_t y = line * down + phase / across - geometry_.padding[0];
        if (y < 0 || y >= height) {
          std::fill(to, to + columns, 0.0f);
        } else {
          copy_phase(image + y * width, width, left, across, columns, to);
        }
      }
    }
  }
  return all;
}

void ConvSite::gather(std::size_t use, const float* phases, std::int64_t first, std::int64_t count,
                      float* to) const {
  const auto [lines, columns] = phase(use);
  const auto [down, across] = geometry_.stride;
  const std::int64_t channels = uses()[use].x.size(1) / geometry_.groups;
  for (std::int64_t channel = 0; channel < channels; ++channel) {
    for (std::int64_t i = 0; i < kernel_[0]; ++i) {
      const std::int64_t y = i * geometry_.dilation[0];
      for (std::int64_t j = 0; j < kernel_[1]; ++j, to += count) {
        const std::int64_t x = j * geometry_.dilation[1];
        const std::int64_t which = (channel * down + y % down) * across + x % across;
        std::copy_n(phases + (which * lines + y / down) * columns + x / across + first, count, to);
      }
    }
  }
}

const float* ConvSite::spaced_gradients(std::size_t use, std::int64_t row, std::int64_t group) const {
  const PositionShape one = shape(use);
  const auto [lines, columns] = output(use);
  const std::int64_t gap = phase(use)[1] - columns;
  const float* from =
      uses()[use].g.data_ptr<float>() + (row * one.groups + group) * one.outputs * one.positions;
  float* const all = scratch(kSpaced, spaced(use) * one.outputs);
  float* to = all;
  for (std::int64_t line = 0; line < lines; ++line, from += columns) {
    transpose_part(from, one.outputs, columns, one.positions, to);
    to += columns * one.outputs;
    if (line + 1 < lines) to = std::fill_n(to, gap * one.outputs, 0.0f);
  }
  return all;
}

// With f = sum_p a_p g_p^T: inputs x outputs.
void ConvSite::form(std::size_t use, std::int64_t row, std::int64_t group, bool add, float* form) const {
  const PositionShape one = shape(use);
  const float* const images = phases(use, row, group);
  const float* const gradients = spaced_gradients(use, row, group);
  const std::int64_t all = spaced(use);
  const std::int64_t tiles = 1 + all * one.inputs / kTile;
  const std::int64_t tile = (all + tiles - 1) / tiles;
  float* const inputs = scratch(kGathered, tile * one.inputs);
  for (std::int64_t first = 0; first < all; first += tile) {
    const std::int64_t count = std::min(tile, all - first);
    gather(use, images, first, count, inputs);
    SmallProduct(one.outputs, one.inputs, count, add || first > 0)(gradients + first * one.outputs, inputs,
                                                                   form);
  }
}

torch::Tensor ConvSite::as_weight(const torch::Tensor& forms) const {
  const PositionShape one = shape(0);
  return forms.view({one.groups, one.inputs, one.outputs}).transpose(1, 2).reshape(weight().sizes());
}

const float* ConvSite::inputs(std::size_t use, std::int64_t row, std::int64_t group, float* to) const {
  const PositionShape one = shape(use);
  const auto [lines, columns] = output(use);
  const std::int64_t all = spaced(use);
  float* const gathered = scratch(kGathered, all * one.inputs);
  gather(use, phases(use, row, group), 0, all, gathered);
  for (std::int64_t line = 0; line < lines; ++line) {
    transpose_part(gathered + line * phase(use)[1], one.inputs, columns, all,
                   to + line * columns * one.inputs);
  }
  return to;
}

const float* ConvSite::gradients(std::size_t use, std::int64_t row, std::int64_t group, float* to) const {
  const PositionShape one = shape(use);
  const float* const from =
      uses()[use].g.data_ptr<float>() + (row * one.groups + group) * one.outputs * one.positions;
  transpose_part(from, one.outputs, one.positions, one.positions, to);
  return to;
}

torch::Tensor ConvSite::inputs_of_rows(std::size_t use, std::int64_t first, std::int64_t count) const {
  const PositionShape one = shape(use);
  const torch::Tensor images = uses()[use].x.narrow(0, first, count);
  return at::im2col(images, kernel_, geometry_.dilation, geometry_.padding, geometry_.stride)
      .view({count, one.groups, one.inputs, one.positions})
      .transpose(2, 3);
}

torch::Tensor ConvSite::gradients_of_rows(std::size_t use, std::int64_t first, std::int64_t count) const {
  const PositionShape one = shape(use);
  const torch::Tensor gradients = uses()[use].g.narrow(0, first, count);
  return gradients.view({count, one.groups, one.outputs, one.positions}).transpose(2, 3);
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
