#include "objectives/neural/linear_site.h"

#include <algorithm>

#include "objectives/neural/small_products.h"

namespace ration::nn {
namespace {

torch::Tensor as_positions(const torch::Tensor& tensor) {
  return tensor.detach().reshape({tensor.size(0), -1, tensor.size(-1)}).contiguous();
}

const float* of_row(const torch::Tensor& tensor, std::int64_t row) {
  return tensor.data_ptr<float>() + row * tensor.stride(0);
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

void LinearSite::write_weighted_product(const torch::Tensor& factors) {
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
