#pragma once

#include <torch/nn/module.h>

#include <span>
#include <vector>

namespace ration::nn {

// The trained parameters of a network in one buffer, their gradients in another; the network's tensors and their .grad
// look into them.
class FlatParameters {
 public:
  explicit FlatParameters(torch::nn::Module& network);

  std::size_t size() const { return static_cast<std::size_t>(values_.numel()); }
  void load(std::span<const double> w);
  // Of the coordinates from `first` on, on the calling thread.
  void load_block(std::size_t first, std::span<const double> block);
  std::span<const float> values() const;
  void clear_gradients() { gradients_.zero_(); }
  std::span<const float> gradients() const;
  void add_gradients_to(std::span<double> sum) const;

 private:
  torch::Tensor values_;
  torch::Tensor gradients_;
};

}  // namespace ration::nn
