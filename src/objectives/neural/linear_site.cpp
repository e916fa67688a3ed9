#include "objectives/neural/linear_site.h"

#include <ATen/Parallel.h>

#include <algorithm>

#include "base/per_processor.h"
#include "objectives/neural/small_products.h"

namespace ration::nn {
namespace {

torch::Tensor as_positions(const torch::Tensor& tensor) {
  return tensor.detach().reshape({tensor.size(0), -1, tensor.size(-1)}).contiguous();
}

constexpr std::size_t kWeighted = 7;  // a slot of the scratch memory that no base class uses

const float* of_row(const torch::Tensor& tensor, std::int64_t row) {
  return tensor.data_ptr<float>() + row * tensor.stride(0);
}

// weighted = factors[i] g_i in each row, in the columns of `width` from `first` on; `sum` over rows, unless
// it is null.
RATION_INLINE void weigh_columns(const float* __restrict g, const float* __restrict factors,
                                 std::int64_t rows, std::int64_t width, std::int64_t first, std::int64_t end,
                                 float* __restrict weighted, float* __restrict sum) {
  if (sum != nullptr) std::fill(sum + first, sum + end, 0.0f);
  for (std::int64_t row = 0; row < rows; ++row) {
    const float factor = factors[row];
    const float* const from = g + row * width;
    float* const to = weighted + row * width;
    for (std::int64_t j = first; j < end; ++j) to[j] = factor * from[j];
    if (sum == nullptr) continue;
    for (std::int64_t j = first; j < end; ++j) sum[j] += to[j];
  }
}

}  // namespace

void LinearSite::add_use(Unchanged x, const torch::Tensor& gradient) {
  keep({as_positions(x.get()), as_positions(gradient)});
}

PositionShape LinearSite::shape(std::size_t use) const {
  const Use& one = uses()[use];
  return {
      .rows = one.x.size(0), .positions = one.x.size(1), .inputs = one.x.size(2), .outputs = one.g.size(2)};
}

void LinearSite::form(std::size_t use, std::int64_t row, std::int64_t, bool add, float* form) const {
  const PositionShape one = shape(use);
  SmallProduct(one.inputs, one.outputs, one.positions, add, Second::by_row)(of_row(uses()[use].x, row),
                                                                            of_row(uses()[use].g, row), form);
}

torch::Tensor LinearSite::as_weight(const torch::Tensor& forms) const {
  return forms.view_as(weight());
}

const float* LinearSite::inputs(std::size_t use, std::int64_t row, std::int64_t, float*) const {
  return of_row(uses()[use].x, row);
}

const float* LinearSite::gradients(std::size_t use, std::int64_t row, std::int64_t, float*) const {
  return of_row(uses()[use].g, row);
}

torch::Tensor LinearSite::bias_gradients() const {
  torch::Tensor sum = uses()[0].g.size(1) == 1 ? uses()[0].g.squeeze(1) : uses()[0].g.sum(1);
  for (std::size_t use = 1; use < uses().size(); ++use) sum = sum + uses()[use].g.sum(1);
  return sum;
}

// The weighted gradients lie in memory that stays, and give the bias on the way.
void LinearSite::write_single_product(const torch::Tensor& factors) {
  constexpr std::int64_t kWorthAThread = 1 << 15;
  const Use& one = uses()[0];
  const std::int64_t rows = one.g.size(0);
  const std::int64_t width = one.g.size(2);
  float* const weighted = scratch(kWeighted, rows * width);
  float* const sum = has_bias() ? bias().mutable_grad().data_ptr<float>() : nullptr;
  at::parallel_for(0, width, 1 + kWorthAThread / rows, [&](std::int64_t begin, std::int64_t end) {
    PerProcessor<weigh_columns>::call(one.g.data_ptr<float>(), factors.data_ptr<float>(), rows, width, begin,
                                      end, weighted, sum);
  });
  torch::Tensor out = weight().mutable_grad();
  at::mm_out(out, torch::from_blob(weighted, {rows, width}).t(), one.x.squeeze(1));
}

void LinearSite::write_weighted_product(const torch::Tensor& factors) {
  if (product_has_bias()) return write_single_product(factors);
  torch::Tensor out = weight().mutable_grad();
  for (std::size_t use = 0; use < uses().size(); ++use) {
    const Use& one = uses()[use];
    const torch::Tensor weighted = (one.g * factors.view({-1, 1, 1})).flatten(0, 1).t();
    const torch::Tensor inputs = one.x.flatten(0, 1);
    if (use == 0) {
      at::mm_out(out, weighted, inputs);
    } else {
      out.addmm_(weighted, inputs);
    }
  }
}

}  // namespace ration::nn
