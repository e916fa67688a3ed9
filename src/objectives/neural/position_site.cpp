#include "objectives/neural/position_site.h"

#include <ATen/Parallel.h>

#include <algorithm>

#include "objectives/neural/small_products.h"

namespace ration::nn {
namespace {

constexpr std::int64_t kTile = 128;          // positions at once: their inputs stay in cache
constexpr std::int64_t kMostKept = 1 << 23;  // floats
constexpr std::int64_t kTouch = 8;           // what writing and reading a kept number costs, in multiply-adds
constexpr std::int64_t kRowsAtOnce = 1;      // grain of the parallel loops

// Memory of this thread for intermediate results, which grows and stays.
float* scratch(std::size_t slot, std::int64_t size) {
  thread_local std::vector<float> memory[4];
  std::vector<float>& chosen = memory[slot];
  if (chosen.size() < static_cast<std::size_t>(size)) chosen.resize(static_cast<std::size_t>(size));
  return chosen.data();
}

enum Slot : std::size_t { kInputs, kGradients, kTransposed, kResult };

}  // namespace

Way cheapest_way(const PositionShape& shape) {
  const std::int64_t area = shape.inputs * shape.outputs;
  const std::int64_t form = shape.positions * area;
  const std::int64_t gram = shape.positions * shape.positions * (shape.inputs + shape.outputs);
  const bool fits = shape.rows * shape.parameters() <= kMostKept;
  if (fits && kTouch * area < std::min(gram, form)) return Way::keep;
  return gram < form ? Way::gram : Way::direct;
}

PositionSite::PositionSite(torch::Tensor weight, torch::Tensor bias)
    : weight_(std::move(weight)), bias_(std::move(bias)) {}

PositionShape PositionSite::whole() const {
  PositionShape sum = shape(0);
  for (std::size_t use = 1; use < uses_.size(); ++use) sum.positions += shape(use).positions;
  return sum;
}

// gradient (groups x outputs x inputs) = sum over uses and positions of g_p a_p^T.
void PositionSite::form_row(std::int64_t row, float* gradient) const {
  for (std::size_t use = 0; use < uses_.size(); ++use) {
    const PositionShape one = shape(use);
    float* const inputs = scratch(kInputs, kTile * one.inputs);
    float* const tile_gradients = scratch(kGradients, kTile * one.outputs);
    for (std::int64_t group = 0; group < one.groups; ++group) {
      float* const out = gradient + group * one.inputs * one.outputs;
      const float* const all = gradients(use, row, group, scratch(kTransposed, one.positions * one.outputs));
      for (std::int64_t first = 0; first < one.positions; first += kTile) {
        const std::int64_t count = std::min(kTile, one.positions - first);
        load_inputs(use, row, group, first, count, inputs);
        const float* part = all;
        if (count < one.positions) {
          for (std::int64_t output = 0; output < one.outputs; ++output) {
            const float* const from = all + output * one.positions + first;
            std::copy(from, from + count, tile_gradients + output * count);
          }
          part = tile_gradients;
        }
        SmallProduct(one.inputs, one.outputs, count, use > 0 || first > 0)(inputs, part, out);
      }
    }
  }
}

// |g a^T| = |g| |a|.
double PositionSite::single_position_norm(std::int64_t row, const PositionShape& one) const {
  float* const inputs = scratch(kInputs, one.inputs);
  load_inputs(0, row, 0, 0, 1, inputs);
  const float* const outputs = gradients(0, row, 0, scratch(kGradients, one.outputs));
  return squared_length(inputs, one.inputs) * squared_length(outputs, one.outputs);
}

// All positions of all uses next to each other.
double PositionSite::gram_norm(std::int64_t row) const {
  const PositionShape all = whole();
  if (all.positions == 1 && all.groups == 1) return single_position_norm(row, all);
  const std::int64_t p = all.positions;
  const std::int64_t width = std::max(all.inputs, all.outputs);
  float* const by_position = scratch(kInputs, p * width);
  float* const by_number = scratch(kTransposed, p * width);
  float* const products = scratch(kResult, 2 * p * p);
  double squared = 0;
  for (std::int64_t group = 0; group < all.groups; ++group) {
    std::int64_t first = 0;
    for (std::size_t use = 0; use < uses_.size(); ++use) {
      const std::int64_t count = shape(use).positions;
      load_inputs(use, row, group, 0, count, by_position + first * all.inputs);
      first += count;
    }
    transpose(by_position, p, all.inputs, by_number);
    SmallProduct(p, p, all.inputs, false)(by_number, by_position, products);
    first = 0;
    for (std::size_t use = 0; use < uses_.size(); ++use) {
      const std::int64_t count = shape(use).positions;
      const float* const from = gradients(use, row, group, scratch(kGradients, count * all.outputs));
      for (std::int64_t output = 0; output < all.outputs; ++output) {
        std::copy(from + output * count, from + (output + 1) * count, by_number + output * p + first);
      }
      first += count;
    }
    transpose(by_number, all.outputs, p, by_position);
    SmallProduct(p, p, all.outputs, false)(by_number, by_position, products + p * p);
    squared += dot(products, products + p * p, p * p);
  }
  return std::max(0.0, squared);
}

void PositionSite::add_weight_norms(std::span<double> squared) {
  const PositionShape all = whole();
  way_ = cheapest_way(all);
  const std::int64_t size = all.parameters();
  if (way_ == Way::keep) kept_ = torch::empty({all.rows, size});
  float* const kept = way_ == Way::keep ? kept_.data_ptr<float>() : nullptr;
  at::parallel_for(0, all.rows, kRowsAtOnce, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      double& sum = squared[static_cast<std::size_t>(row)];
      if (way_ == Way::gram) {
        sum += gram_norm(row);
        continue;
      }
      float* const gradient = kept != nullptr ? kept + row * size : scratch(kResult, size);
      form_row(row, gradient);
      sum += squared_length(gradient, size);
    }
  });
}

void PositionSite::add_squared_norms(std::span<double> squared) {
  if (uses_.empty()) return;
  if (has_weight()) add_weight_norms(squared);
  if (!has_bias()) return;
  bias_rows_ = bias_gradients();
  add_squared_rows(bias_rows_, squared);
}

void PositionSite::write_weighted(const torch::Tensor& factors) {
  if (uses_.empty()) {
    if (has_weight()) weight_.mutable_grad().zero_();
    if (has_bias()) bias_.mutable_grad().zero_();
    return;
  }
  if (has_bias()) weigh_rows(bias_rows_, factors, bias_.mutable_grad());
  if (!has_weight()) return;
  if (way_ == Way::keep) {
    weigh_rows(kept_, factors, weight_.mutable_grad());
  } else {
    write_weighted_product(factors);
  }
}

void PositionSite::forget_rows(const torch::Tensor& rows) {
  if (kept_.defined()) kept_.index_fill_(0, rows, 0);
  if (bias_rows_.defined()) bias_rows_.index_fill_(0, rows, 0);
  for (Use& use : uses_) {
    use.x = use.x.index_fill(0, rows, 0);
    use.g = use.g.index_fill(0, rows, 0);
  }
}

void weigh_rows(const torch::Tensor& rows_of, const torch::Tensor& factors, torch::Tensor out) {
  torch::Tensor flat = out.view({-1});
  at::mv_out(flat, rows_of.reshape({rows_of.size(0), -1}).t(), factors);
}

void add_squared_rows(const torch::Tensor& rows_of, std::span<double> squared) {
  const torch::Tensor flat = rows_of.reshape({rows_of.size(0), -1}).contiguous();
  const std::int64_t size = flat.size(1);
  const float* const values = flat.data_ptr<float>();
  at::parallel_for(0, flat.size(0), 1 + 16384 / std::max<std::int64_t>(1, size),
                   [&](std::int64_t begin, std::int64_t end) {
                     for (std::int64_t row = begin; row < end; ++row) {
                       squared[static_cast<std::size_t>(row)] += squared_length(values + row * size, size);
                     }
                   });
}

}  // namespace ration::nn
