#pragma once

#include <torch/nn/module.h>

#include <span>
#include <vector>

#include "ration/objectives/weights.h"

namespace ration::nn {

// The trained parameters of a network in one buffer, their gradients in another; the network's tensors and
// their .grad look into them. The buffer is one of its own, or the weights of a run if the network computes
// in the processor's memory.
class FlatParameters {
 public:
  explicit FlatParameters(torch::nn::Module& network);

  std::size_t size() const { return static_cast<std::size_t>(values_.numel()); }
  void load(std::span<const double> w);
  // From now on these, which nobody here writes to, or a copy of them as they are now.
  void look_at(const FloatWeights& w);
  void clear_gradients() { gradients_.zero_(); }
  // As they are when asked for.
  std::span<const float> gradients();
  void add_gradients_to(std::span<double> sum);

 private:
  void look_into(torch::Tensor values);
  bool is_here() const { return values_.is_cpu(); }

  std::vector<torch::Tensor> parameters_;
  torch::Tensor values_;
  FloatWeights lent_;  // that values_ lies in; null: its memory is its own
  torch::Tensor gradients_;
  torch::Tensor here_;  // what goes to another device or came from there, in the processor's memory
};

}  // namespace ration::nn
