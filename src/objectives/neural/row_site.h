#pragma once

#include <utility>
#include <vector>

#include "ration/objectives/neural/tape.h"

namespace ration::nn {

// Parameters whose gradient of each row is small and at hand: those of normalisation layers, and biases. Uses
// add up.
class RowSite final : public Site {
 public:
  RowSite(std::int64_t rows, std::vector<torch::Tensor> parameters, Kernels kernels)
      : Site(rows), parameters_(std::move(parameters)), kernels_(kernels), rows_of_(parameters_.size()) {}

  // The gradients of the parameter in this place, one row each.
  void add_use(std::size_t parameter, const torch::Tensor& gradients);

  std::vector<torch::Tensor> parameters() const override;
  void add_squared_norms(std::span<double> squared) override;
  void write_weighted(const torch::Tensor& factors) override;
  void forget_rows(const torch::Tensor& rows) override;

 private:
  std::vector<torch::Tensor> parameters_;
  Kernels kernels_;
  std::vector<torch::Tensor> rows_of_;  // the gradients of each parameter
};

}  // namespace ration::nn
