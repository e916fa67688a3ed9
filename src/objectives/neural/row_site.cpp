#include "objectives/neural/row_site.h"

#include "objectives/neural/position_site.h"

namespace ration::nn {

void RowSite::add_use(std::size_t parameter, const torch::Tensor& gradients) {
  torch::Tensor& rows = rows_[parameter];
  rows = rows.defined() ? rows + gradients : gradients.detach();
}

void RowSite::add_squared_norms(std::span<double> squared) {
  for (const torch::Tensor& rows : rows_) {
    if (rows.defined()) add_squared_rows(rows, kernels_, squared);
  }
}

void RowSite::write_weighted(const torch::Tensor& factors) {
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    if (rows_[i].defined()) {
      weigh_rows(rows_[i], factors, parameters_[i].mutable_grad());
    } else if (parameters_[i].defined() && parameters_[i].requires_grad()) {
      parameters_[i].mutable_grad().zero_();
    }
  }
}

void RowSite::forget_rows(const torch::Tensor& rows) {
  for (torch::Tensor& gradients : rows_) {
    if (gradients.defined()) gradients = gradients.index_fill(0, rows, 0);
  }
}

}  // namespace ration::nn
