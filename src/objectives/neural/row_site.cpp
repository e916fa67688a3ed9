#include "objectives/neural/row_site.h"

#include "objectives/neural/position_site.h"
#include "ration/base/error.h"

namespace ration::nn {

void RowSite::add_use(std::size_t parameter, const torch::Tensor& gradients) {
  require_rows(gradients, rows());
  if (gradients.numel() != rows() * parameters_[parameter].numel()) {
    throw InputError("network: a layer's parameter has another shape than what a row gives it to add up");
  }
  torch::Tensor& rows_of = rows_of_[parameter];
  rows_of = rows_of.defined() ? rows_of + gradients : gradients.detach();
}

std::vector<torch::Tensor> RowSite::parameters() const {
  std::vector<torch::Tensor> trained;
  for (const torch::Tensor& one : parameters_) {
    if (one.defined() && one.requires_grad()) trained.push_back(one);
  }
  return trained;
}

void RowSite::add_squared_norms(std::span<double> squared) {
  for (const torch::Tensor& rows_of : rows_of_) {
    if (rows_of.defined()) add_squared_rows(rows_of, kernels_, squared);
  }
}

void RowSite::write_weighted(const torch::Tensor& factors) {
  for (std::size_t i = 0; i < rows_of_.size(); ++i) {
    if (rows_of_[i].defined()) {
      weigh_rows(rows_of_[i], factors, parameters_[i].mutable_grad());
    } else if (parameters_[i].defined() && parameters_[i].requires_grad()) {
      parameters_[i].mutable_grad().zero_();
    }
  }
}

void RowSite::forget_rows(const torch::Tensor& rows) {
  for (torch::Tensor& gradients : rows_of_) {
    if (gradients.defined()) gradients = gradients.index_fill(0, rows, 0);
  }
}

}  // namespace ration::nn
