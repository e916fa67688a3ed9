#pragma once

#include <torch/nn/module.h>

#include <span>
#include <string>
#include <unordered_map>
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
  // From here to show_gradients() the tensors have no .grad: if a backward pass computes one by itself, in
  // place of leaving it to clipping, it is found there.
  void hide_gradients();
  // Throws InputError, with its name, if a tensor got one since.
  void show_gradients();
  // What no site writes is zero: no gradient may be left from another batch. `written` is what the sites
  // report; InputError for what is not among the parameters, or there twice.
  void clear_all_but(std::span<const torch::Tensor> written);
  // As they are when asked for.
  std::span<const float> gradients();
  void add_gradients_to(std::span<double> sum);

 private:
  void look_into(torch::Tensor values);
  bool is_here() const { return values_.is_cpu(); }

  std::vector<std::string> names_;
  std::vector<torch::Tensor> parameters_;
  std::vector<torch::Tensor> gradients_of_;  // of each, in gradients_
  std::vector<bool> is_written_;
  std::unordered_map<const void*, std::size_t> places_;  // of the tensors in parameters_
  torch::Tensor values_;
  FloatWeights lent_;  // that values_ lies in; null: its memory is its own
  torch::Tensor gradients_;
  torch::Tensor here_;  // what goes to another device or came from there, in the processor's memory
};

}  // namespace ration::nn
