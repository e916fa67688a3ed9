#pragma once

#include <torch/nn/module.h>

#include <span>
#include <vector>

#include "ration/objectives/weights.h"

namespace ration::nn {

// The trained parameters of a network in one buffer, their gradients in another; the network's tensors and their .grad
// look into them. The buffer is one of its own, or the weights of a run.
class FlatParameters {
 public:
  explicit FlatParameters(torch::nn::Module& network);

  std::size_t size() const { return static_cast<std::size_t>(values_.numel()); }
  void load(std::span<const double> w);
  // From now on these, which nobody here writes to.
  void look_at(const FloatWeights& w);
  void clear_gradients() { gradients_.zero_(); }
  std::span<const float> gradients() const;
  void add_gradients_to(std::span<double> sum) const;

 private:
  void look_into(torch::Tensor values);

  std::vector<torch::Tensor> parameters_;
  torch::Tensor values_;
  FloatWeights lent_;  // that values_ lies in; null: its memory is its own
  torch::Tensor gradients_;
};

}  // namespace ration::nn
