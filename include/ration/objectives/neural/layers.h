#pragma once

#include <torch/nn/modules/container/any.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/dropout.h>
#include <torch/nn/modules/embedding.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/modules/normalization.h>
#include <torch/nn/pimpl.h>

#include <cstdint>
#include <tuple>
#include <vector>

// Layers for private training. They are torch modules and behave as torch's layers of the same name, but
// under a Tape (tape.h) they leave behind what clipping needs, and the backward pass computes no gradient of
// their parameters. A network composed of them, and of anything without parameters, trains privately with no
// other change.
//
// Inputs      the first dimension is the row. A layer treats every row alike and by itself.
// Freezing    parameters with requires_grad(false) stay as they are, cost nothing and are protected by
//             nothing.
namespace ration::nn {

// Marks a module whose own parameters are all on the tape.
class PrivateLayer {
 public:
  virtual ~PrivateLayer() = default;
};

// y = W x + b over the last dimension.
class LinearImpl : public torch::nn::LinearImpl, public PrivateLayer {
 public:
  using torch::nn::LinearImpl::LinearImpl;
  torch::Tensor forward(const torch::Tensor& x);
};
TORCH_MODULE(Linear);

// Zero padding given as numbers; stride, dilation and groups as in torch.
class Conv1dImpl : public torch::nn::Conv1dImpl, public PrivateLayer {
 public:
  explicit Conv1dImpl(const torch::nn::Conv1dOptions& given);
  Conv1dImpl(std::int64_t in, std::int64_t out, std::int64_t kernel)
      : Conv1dImpl(torch::nn::Conv1dOptions(in, out, kernel)) {}
  torch::Tensor forward(const torch::Tensor& x);
};
TORCH_MODULE(Conv1d);

class Conv2dImpl : public torch::nn::Conv2dImpl, public PrivateLayer {
 public:
  explicit Conv2dImpl(const torch::nn::Conv2dOptions& given);
  Conv2dImpl(std::int64_t in, std::int64_t out, std::int64_t kernel)
      : Conv2dImpl(torch::nn::Conv2dOptions(in, out, kernel)) {}
  torch::Tensor forward(const torch::Tensor& x);
};
TORCH_MODULE(Conv2d);

// Takes ids as integers or, as rows hold them, as floats.
class EmbeddingImpl : public torch::nn::EmbeddingImpl, public PrivateLayer {
 public:
  using torch::nn::EmbeddingImpl::EmbeddingImpl;
  torch::Tensor forward(const torch::Tensor& ids);
};
TORCH_MODULE(Embedding);

class LayerNormImpl : public torch::nn::LayerNormImpl, public PrivateLayer {
 public:
  using torch::nn::LayerNormImpl::LayerNormImpl;
  torch::Tensor forward(const torch::Tensor& x);
};
TORCH_MODULE(LayerNorm);

class GroupNormImpl : public torch::nn::GroupNormImpl, public PrivateLayer {
 public:
  using torch::nn::GroupNormImpl::GroupNormImpl;
  torch::Tensor forward(const torch::Tensor& x);
};
TORCH_MODULE(GroupNorm);

// Each channel of a row by itself, over whatever dimensions follow; no running statistics, which would mix
// rows.
class InstanceNormImpl : public GroupNormImpl {
 public:
  explicit InstanceNormImpl(std::int64_t channels) : GroupNormImpl(channels, channels) {}
};
TORCH_MODULE(InstanceNorm);

// y = x / sqrt(mean of x^2 + eps) * weight over the last dimension.
class RMSNormImpl : public torch::nn::Module, public PrivateLayer {
 public:
  explicit RMSNormImpl(std::int64_t size, double eps = 1e-6);
  torch::Tensor forward(const torch::Tensor& x);

  torch::Tensor weight;

 private:
  double eps_;
};
TORCH_MODULE(RMSNorm);

// y = x + b, b of the shape of a row: learned positions, or a bias of its own.
class BiasImpl : public torch::nn::Module, public PrivateLayer {
 public:
  explicit BiasImpl(std::vector<std::int64_t> shape);
  torch::Tensor forward(const torch::Tensor& x);

  torch::Tensor bias;
};
TORCH_MODULE(Bias);

// Self-attention over rows x tokens x size. `padding`, rows x tokens, is true at tokens nobody shall look at.
class MultiheadAttentionImpl : public torch::nn::Module {
 public:
  MultiheadAttentionImpl(std::int64_t size, std::int64_t heads);
  torch::Tensor forward(const torch::Tensor& x, const torch::Tensor& padding = {});

  Linear in{nullptr};  // queries, keys and values
  Linear out{nullptr};

 private:
  std::int64_t heads_;
};
TORCH_MODULE(MultiheadAttention);

// One step over time: forward(x, state) returns the next state.
class GRUCellImpl : public torch::nn::Module {
 public:
  GRUCellImpl(std::int64_t inputs, std::int64_t size);
  torch::Tensor forward(const torch::Tensor& x, const torch::Tensor& state);

  Linear of_input{nullptr};
  Linear of_state{nullptr};
};
TORCH_MODULE(GRUCell);

class LSTMCellImpl : public torch::nn::Module {
 public:
  using State = std::tuple<torch::Tensor, torch::Tensor>;  // hidden, cell

  LSTMCellImpl(std::int64_t inputs, std::int64_t size);
  State forward(const torch::Tensor& x, const State& state);

  Linear of_input{nullptr};
  Linear of_state{nullptr};
};
TORCH_MODULE(LSTMCell);

// A frozen Linear and a trained correction of low rank: y = W x + b + scale * up(down(x)). [Hu22]
class LoraLinearImpl : public torch::nn::Module {
 public:
  // `up` begins at zero, so that training begins at the frozen layer.
  LoraLinearImpl(Linear base, std::int64_t rank, double scale = 1);
  torch::Tensor forward(const torch::Tensor& x);

  Linear base{nullptr};
  Linear down{nullptr};
  Linear up{nullptr};

 private:
  double scale_;
};
TORCH_MODULE(LoraLinear);

// Nothing of it is trained any more.
void freeze(torch::nn::Module& module);
// Of all parameters, only those called "bias" are trained.
void train_biases_only(torch::nn::Module& module);

}  // namespace ration::nn
