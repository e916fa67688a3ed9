// For extensions: may change between minor versions.
#pragma once

#include <torch/nn/modules/container/any.h>
#include <torch/nn/modules/conv.h>
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
// Inputs      the first dimension is the row: under a tape, anything else is refused (InputError). A layer
//             treats every row alike and by itself.
// Freezing    parameters with requires_grad(false) stay as they are, cost nothing and are protected by
//             nothing.
namespace ration::nn {

// Marks a module whose own parameters are all on the tape. A subclass that trains more than its base does is
// refused, whatever it is marked as.
class PrivateLayer {
 public:
  virtual ~PrivateLayer() = default;
};

// y = W x + b over the last dimension.
class LinearImpl : public torch::nn::LinearImpl, public PrivateLayer {
 public:
  using torch::nn::LinearImpl::LinearImpl;
  // The outputs, row by row.
  torch::Tensor forward(const torch::Tensor& x);
};
TORCH_MODULE(Linear);

// Zero padding given as numbers; stride, dilation and groups as in torch.
class Conv1dImpl : public torch::nn::Conv1dImpl, public PrivateLayer {
 public:
  // InputError for padding by name, or other than zeros.
  explicit Conv1dImpl(const torch::nn::Conv1dOptions& given);
  // Stride 1, no padding.
  Conv1dImpl(std::int64_t in, std::int64_t out, std::int64_t kernel)
      : Conv1dImpl(torch::nn::Conv1dOptions(in, out, kernel)) {}
  // The outputs, row by row.
  torch::Tensor forward(const torch::Tensor& x);
};
TORCH_MODULE(Conv1d);

// The same over height and width.
class Conv2dImpl : public torch::nn::Conv2dImpl, public PrivateLayer {
 public:
  // InputError for padding by name, or other than zeros.
  explicit Conv2dImpl(const torch::nn::Conv2dOptions& given);
  // Stride 1, no padding, a square kernel.
  Conv2dImpl(std::int64_t in, std::int64_t out, std::int64_t kernel)
      : Conv2dImpl(torch::nn::Conv2dOptions(in, out, kernel)) {}
  // The outputs, row by row.
  torch::Tensor forward(const torch::Tensor& x);
};
TORCH_MODULE(Conv2d);

// Takes ids as integers or, as rows hold them, as floats. An id that the table does not have stands for a
// vector of NaNs: its row contributes nothing, and no error says which one it was. InputError for a max_norm,
// which would change the table by what the rows look up.
class EmbeddingImpl : public torch::nn::EmbeddingImpl, public PrivateLayer {
 public:
  using torch::nn::EmbeddingImpl::EmbeddingImpl;
  // A vector for each id.
  torch::Tensor forward(const torch::Tensor& ids);
};
TORCH_MODULE(Embedding);

// Each row by itself, over the last dimensions.
class LayerNormImpl : public torch::nn::LayerNormImpl, public PrivateLayer {
 public:
  using torch::nn::LayerNormImpl::LayerNormImpl;
  // The outputs, row by row.
  torch::Tensor forward(const torch::Tensor& x);
};
TORCH_MODULE(LayerNorm);

// Each group of a row's channels by itself.
class GroupNormImpl : public torch::nn::GroupNormImpl, public PrivateLayer {
 public:
  using torch::nn::GroupNormImpl::GroupNormImpl;
  // The outputs, row by row.
  torch::Tensor forward(const torch::Tensor& x);
};
TORCH_MODULE(GroupNorm);

// Each channel of a row by itself, over whatever dimensions follow; no running statistics, which would mix
// rows.
class InstanceNormImpl : public GroupNormImpl {
 public:
  // Over so many channels.
  explicit InstanceNormImpl(std::int64_t channels) : GroupNormImpl(channels, channels) {}
};
TORCH_MODULE(InstanceNorm);

// y = x / sqrt(mean of x^2 + eps) * weight over the last dimension.
class RMSNormImpl : public torch::nn::Module, public PrivateLayer {
 public:
  // `size`: of the last dimension.
  explicit RMSNormImpl(std::int64_t size, double eps = 1e-6);
  // The outputs, row by row.
  torch::Tensor forward(const torch::Tensor& x);

  torch::Tensor weight;  // begins at 1

 private:
  double eps_;
};
TORCH_MODULE(RMSNorm);

// y = x + b, b of the shape of a row: learned positions, or a bias of its own.
class BiasImpl : public torch::nn::Module, public PrivateLayer {
 public:
  // `shape`: of one row.
  explicit BiasImpl(std::vector<std::int64_t> shape);
  // The outputs, row by row.
  torch::Tensor forward(const torch::Tensor& x);

  torch::Tensor bias;  // begins at 0
};
TORCH_MODULE(Bias);

// While a network is trained, each number of a row is zero with probability p, and divided by 1 - p
// otherwise; afterwards all stay as they are. Masks are drawn from the secure source for each row by itself,
// so that no row changes the mask of another; torch's Dropout, which draws by place from a seed of its own,
// is refused.
class DropoutImpl : public torch::nn::Module {
 public:
  // 0 <= p < 1.
  explicit DropoutImpl(double p = 0.5);
  // Of the shape of x.
  torch::Tensor forward(const torch::Tensor& x);

 private:
  double p_;
};
TORCH_MODULE(Dropout);

// Self-attention over rows x tokens x size. `padding`, rows x tokens, is true at tokens nobody shall look at.
class MultiheadAttentionImpl : public torch::nn::Module {
 public:
  // `heads` divides `size`.
  MultiheadAttentionImpl(std::int64_t size, std::int64_t heads);
  // Of the shape of x.
  torch::Tensor forward(const torch::Tensor& x, const torch::Tensor& padding = {});

  Linear in{nullptr};   // queries, keys and values
  Linear out{nullptr};  // from all heads together

 private:
  std::int64_t heads_;
};
TORCH_MODULE(MultiheadAttention);

// One step over time: forward(x, state) returns the next state.
class GRUCellImpl : public torch::nn::Module {
 public:
  // From `inputs` numbers and a state of `size`.
  GRUCellImpl(std::int64_t inputs, std::int64_t size);
  // The next state.
  torch::Tensor forward(const torch::Tensor& x, const torch::Tensor& state);

  Linear of_input{nullptr};  // all gates' parts that come from x
  Linear of_state{nullptr};  // and those that come from the state
};
TORCH_MODULE(GRUCell);

// The same with a cell beside the hidden state.
class LSTMCellImpl : public torch::nn::Module {
 public:
  using State = std::tuple<torch::Tensor, torch::Tensor>;  // hidden, cell

  // From `inputs` numbers and a state of `size`.
  LSTMCellImpl(std::int64_t inputs, std::int64_t size);
  // The next state.
  State forward(const torch::Tensor& x, const State& state);

  Linear of_input{nullptr};  // all gates' parts that come from x
  Linear of_state{nullptr};  // and those that come from the state
};
TORCH_MODULE(LSTMCell);

// A frozen Linear and a trained correction of low rank: y = W x + b + scale * up(down(x)). [Hu22]
class LoraLinearImpl : public torch::nn::Module {
 public:
  // `up` begins at zero, so that training begins at the frozen layer.
  LoraLinearImpl(Linear base, std::int64_t rank, double scale = 1);
  // The outputs, row by row.
  torch::Tensor forward(const torch::Tensor& x);

  Linear base{nullptr};  // frozen
  Linear down{nullptr};  // to the rank
  Linear up{nullptr};    // and back

 private:
  double scale_;
};
TORCH_MODULE(LoraLinear);

// Nothing of it is trained any more.
void freeze(torch::nn::Module& module);
// Of all parameters, only those called "bias" are trained.
void train_biases_only(torch::nn::Module& module);

}  // namespace ration::nn
