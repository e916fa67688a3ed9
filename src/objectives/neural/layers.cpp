#include "ration/objectives/neural/layers.h"

#include <ATen/Parallel.h>
#include <torch/nn/functional.h>
#include <torch/nn/init.h>

#include <Eigen/Core>
#include <array>
#include <limits>
#include <memory>
#include <numeric>
#include <utility>

#include "base/check.h"
#include "base/keyed_bits.h"
#include "objectives/neural/conv_site.h"
#include "objectives/neural/embedding_site.h"
#include "objectives/neural/linear_site.h"
#include "objectives/neural/row_draws.h"
#include "objectives/neural/row_site.h"
#include "ration/base/error.h"
#include "ration/objectives/neural/tape.h"

namespace ration::nn {
namespace {

using torch::Tensor;

bool is_trained(const Tensor& parameter) {
  return parameter.defined() && parameter.requires_grad();
}

Tensor constant(const Tensor& parameter) {
  return parameter.defined() ? parameter.detach() : parameter;
}

// The tape, if it has to know of a layer with these parameters.
Tape* tape_for(const Tensor& weight, const Tensor& bias = {}) {
  return is_trained(weight) || is_trained(bias) ? Tape::current() : nullptr;
}

template <std::size_t D>
ConvGeometry geometry_of(const torch::nn::detail::ConvNdOptions<D>& options) {
  const auto padding = c10::get<torch::ExpandingArray<D>>(options.padding());
  ConvGeometry out{.groups = options.groups()};
  for (std::size_t i = 0; i < D; ++i) {
    out.stride[2 - D + i] = options.stride()->at(i);
    out.padding[2 - D + i] = padding->at(i);
    out.dilation[2 - D + i] = options.dilation()->at(i);
  }
  return out;
}

template <class Options>
const Options& require_plain_padding(const Options& options) {
  if (options.padding().index() != 0 ||
      !c10::holds_alternative<torch::enumtype::kZeros>(options.padding_mode())) {
    throw InputError("convolution: expected zero padding, given as numbers");
  }
  return options;
}

Tensor record_convolution(Tape& tape, const void* layer, const Tensor& x, const Tensor& weight,
                          const Tensor& bias, const ConvGeometry& geometry,
                          const std::function<Tensor()>& compute) {
  require_rows(x, tape.rows(), weight.dim());
  auto& site = tape.site_of<ConvSite>(
      layer, [&] { return std::make_unique<ConvSite>(tape.rows(), weight, bias, tape.kernels(), geometry); });
  return watched(compute, x.requires_grad(),
                 [&site, kept = Unchanged(x)](const Tensor& gradient) { site.add_use(kept, gradient); });
}

struct AffineRows {
  Tensor weight;
  Tensor bias;
};

AffineRows empty_rows(std::int64_t rows, std::int64_t size) {
  return {torch::zeros({rows, size}), torch::zeros({rows, size})};
}

struct Statistics {
  Tensor mean;
  Tensor inverse;  // of the standard deviation
};

// By operations of tensors, from inputs and gradients rows x groups x ... that share a mean in each group of
// a row.
Tensor weight_terms(const Tensor& x, const Tensor& gradient, const Statistics& found) {
  const std::vector<std::int64_t> one_each{x.size(0), x.size(1), 1};
  const Tensor normal = (x - found.mean.reshape(one_each)) * found.inverse.reshape(one_each);
  return normal * gradient;
}

AffineRows portable_layer_norm_rows(const Tensor& x, const Tensor& gradient, const Statistics& found,
                                    std::int64_t size) {
  const std::vector<std::int64_t> by_position{x.size(0), -1, size};
  const Tensor g = gradient.detach().reshape(by_position);
  return {weight_terms(x.detach().reshape(by_position), g, found).sum(1), g.sum(1)};
}

AffineRows portable_group_norm_rows(const Tensor& x, const Tensor& gradient, const Statistics& found,
                                    std::int64_t groups) {
  const std::vector<std::int64_t> by_group{x.size(0), groups, -1}, by_channel{x.size(0), x.size(1), -1};
  const Tensor g = gradient.detach().reshape(by_group);
  const Tensor terms = weight_terms(x.detach().reshape(by_group), g, found);
  return {terms.reshape(by_channel).sum(2), g.reshape(by_channel).sum(2)};
}

// Of weight and bias of a layer norm: sum over positions of g (x - mean) / deviation, and of g.
AffineRows layer_norm_rows(const Tensor& x, const Tensor& gradient, const Statistics& found,
                           std::int64_t size) {
  const auto& [mean, inverse] = found;
  const Tensor xs = x.detach().contiguous();
  const Tensor gs = gradient.detach().contiguous();
  const std::int64_t rows = xs.size(0);
  const std::int64_t positions = xs.numel() / (rows * size);
  AffineRows out = empty_rows(rows, size);
  using Vector = Eigen::Map<const Eigen::ArrayXf>;
  at::parallel_for(0, rows, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      Eigen::Map<Eigen::ArrayXf> weight(out.weight.data_ptr<float>() + row * size, size);
      Eigen::Map<Eigen::ArrayXf> bias(out.bias.data_ptr<float>() + row * size, size);
      for (std::int64_t p = row * positions; p < (row + 1) * positions; ++p) {
        const Vector g(gs.data_ptr<float>() + p * size, size);
        const Vector input(xs.data_ptr<float>() + p * size, size);
        weight += g * (input - mean.data_ptr<float>()[p]) * inverse.data_ptr<float>()[p];
        bias += g;
      }
    }
  });
  return out;
}

// The same for a group norm, where the positions of a channel lie next to each other.
AffineRows group_norm_rows(const Tensor& x, const Tensor& gradient, const Statistics& found,
                           std::int64_t groups) {
  const auto& [mean, inverse] = found;
  const Tensor xs = x.detach().contiguous();
  const Tensor gs = gradient.detach().contiguous();
  const std::int64_t channels = xs.size(1);
  const std::int64_t positions = xs.numel() / (xs.size(0) * channels);
  AffineRows out = empty_rows(xs.size(0), channels);
  using Vector = Eigen::Map<const Eigen::ArrayXf>;
  at::parallel_for(0, xs.size(0) * channels, 16, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t at = begin; at < end; ++at) {
      const std::int64_t group = at / (channels / groups);
      const Vector g(gs.data_ptr<float>() + at * positions, positions);
      const Vector input(xs.data_ptr<float>() + at * positions, positions);
      out.weight.data_ptr<float>()[at] =
          (g * (input - mean.data_ptr<float>()[group])).sum() * inverse.data_ptr<float>()[group];
      out.bias.data_ptr<float>()[at] = g.sum();
    }
  });
  return out;
}

RowSite& affine_site(Tape& tape, const void* layer, const Tensor& weight, const Tensor& bias) {
  return tape.site_of<RowSite>(layer, [&] {
    return std::make_unique<RowSite>(tape.rows(), std::vector<Tensor>{weight, bias}, tape.kernels());
  });
}

void add_affine_use(RowSite& site, const AffineRows& rows, bool weight, bool bias) {
  if (weight) site.add_use(0, rows.weight);
  if (bias) site.add_use(1, rows.bias);
}

// Sum over everything between the row and the last dimension.
Tensor over_positions(const Tensor& values) {
  return values.dim() == 2 ? values : values.reshape({values.size(0), -1, values.size(-1)}).sum(1);
}

}  // namespace

Tensor LinearImpl::forward(const Tensor& x) {
  Tape* const tape = tape_for(weight, bias);
  if (tape == nullptr) return torch::nn::LinearImpl::forward(x);
  require_rows(x, tape->rows(), 2);
  auto& site = tape->site_of<LinearSite>(
      this, [&] { return std::make_unique<LinearSite>(tape->rows(), weight, bias, tape->kernels()); });
  return watched([&] { return torch::linear(x, constant(weight), constant(bias)); }, x.requires_grad(),
                 [&site, kept = Unchanged(x)](const Tensor& gradient) { site.add_use(kept, gradient); });
}

Conv1dImpl::Conv1dImpl(const torch::nn::Conv1dOptions& given)
    : torch::nn::Conv1dImpl(require_plain_padding(given)) {}

Tensor Conv1dImpl::forward(const Tensor& x) {
  Tape* const tape = tape_for(weight, bias);
  if (tape == nullptr) return torch::nn::Conv1dImpl::forward(x);
  const ConvGeometry geometry = geometry_of<1>(options);
  return record_convolution(*tape, this, x, weight, bias, geometry, [&] {
    return torch::conv1d(x, constant(weight), constant(bias), geometry.stride[1], geometry.padding[1],
                         geometry.dilation[1], geometry.groups);
  });
}

Conv2dImpl::Conv2dImpl(const torch::nn::Conv2dOptions& given)
    : torch::nn::Conv2dImpl(require_plain_padding(given)) {}

Tensor Conv2dImpl::forward(const Tensor& x) {
  Tape* const tape = tape_for(weight, bias);
  if (tape == nullptr) return torch::nn::Conv2dImpl::forward(x);
  const ConvGeometry geometry = geometry_of<2>(options);
  return record_convolution(*tape, this, x, weight, bias, geometry, [&] {
    return torch::conv2d(x, constant(weight), constant(bias), geometry.stride, geometry.padding,
                         geometry.dilation, geometry.groups);
  });
}

Tensor EmbeddingImpl::forward(const Tensor& given) {
  if (options.max_norm()) throw InputError("embedding: max_norm changes the table by what the rows look up");
  const Tensor is_known = (given >= 0) & (given < weight.size(0));
  const bool all_known = is_known.all().item<bool>();
  const Tensor ids = (all_known ? given : given.masked_fill(~is_known, 0)).to(torch::kLong);
  const auto look_up = [&](const Tensor& table) {
    const Tensor found = torch::embedding(table, ids);
    if (all_known) return found;
    return found.masked_fill(~is_known.unsqueeze(-1), std::numeric_limits<double>::quiet_NaN());
  };
  Tape* const tape = tape_for(weight);
  if (tape == nullptr) return look_up(weight);
  require_rows(given, tape->rows());
  auto& site = tape->site_of<EmbeddingSite>(
      this, [&] { return std::make_unique<EmbeddingSite>(tape->rows(), weight, tape->kernels()); });
  return watched([&] { return look_up(constant(weight)); }, false,
                 [&site, ids](const Tensor& gradient) { site.add_use(ids, gradient); });
}

Tensor LayerNormImpl::forward(const Tensor& x) {
  Tape* const tape = tape_for(weight, bias);
  if (tape == nullptr) return torch::nn::LayerNormImpl::forward(x);
  require_rows(x, tape->rows(), 1 + static_cast<std::int64_t>(options.normalized_shape().size()));
  RowSite& site = affine_site(*tape, this, weight, bias);
  const auto found = std::make_shared<Statistics>();
  const std::int64_t size = weight.numel();
  return watched(
      [&] {
        auto [y, mean, inverse] = at::native_layer_norm(x, options.normalized_shape(), constant(weight),
                                                        constant(bias), options.eps());
        *found = {mean.detach(), inverse.detach()};  // or the hook would hold the node that holds it
        return y;
      },
      x.requires_grad(),
      [&site, found, size,
       rows_of = tape->kernels() == Kernels::portable ? portable_layer_norm_rows : layer_norm_rows,
       kept = Unchanged(x), of_weight = is_trained(weight),
       of_bias = is_trained(bias)](const Tensor& gradient) {
        add_affine_use(site, rows_of(kept.get(), gradient, *found, size), of_weight, of_bias);
      });
}

Tensor GroupNormImpl::forward(const Tensor& x) {
  Tape* const tape = tape_for(weight, bias);
  if (tape == nullptr) return torch::nn::GroupNormImpl::forward(x);
  require_rows(x, tape->rows(), 2);
  RowSite& site = affine_site(*tape, this, weight, bias);
  const auto found = std::make_shared<Statistics>();
  const std::int64_t groups = options.num_groups();
  const Tensor input = x.contiguous();
  return watched(
      [&] {
        auto [y, mean, inverse] =
            at::native_group_norm(input, constant(weight), constant(bias), input.size(0), input.size(1),
                                  input.numel() / (input.size(0) * input.size(1)), groups, options.eps());
        *found = {mean.detach(), inverse.detach()};  // or the hook would hold the node that holds it
        return y;
      },
      input.requires_grad(),
      [&site, found, groups,
       rows_of = tape->kernels() == Kernels::portable ? portable_group_norm_rows : group_norm_rows,
       kept = Unchanged(input), of_weight = is_trained(weight),
       of_bias = is_trained(bias)](const Tensor& gradient) {
        add_affine_use(site, rows_of(kept.get(), gradient, *found, groups), of_weight, of_bias);
      });
}

RMSNormImpl::RMSNormImpl(std::int64_t size, double eps)
    : weight(register_parameter("weight", torch::ones({size}))), eps_(eps) {}

Tensor RMSNormImpl::forward(const Tensor& x) {
  const Tensor normal = x * torch::rsqrt(x.pow(2).mean(-1, true) + eps_);
  Tape* const tape = tape_for(weight);
  if (tape == nullptr) return normal * weight;
  require_rows(x, tape->rows(), 2);
  auto& site = tape->site_of<RowSite>(this, [&] {
    return std::make_unique<RowSite>(tape->rows(), std::vector<Tensor>{weight}, tape->kernels());
  });
  return watched([&] { return normal * constant(weight); }, normal.requires_grad(),
                 [&site, kept = Unchanged(normal.detach())](const Tensor& gradient) {
                   site.add_use(0, over_positions(gradient * kept.get()));
                 });
}

BiasImpl::BiasImpl(std::vector<std::int64_t> shape) : bias(register_parameter("bias", torch::zeros(shape))) {}

Tensor BiasImpl::forward(const Tensor& x) {
  Tape* const tape = tape_for(bias);
  if (tape == nullptr) return x + bias;
  require_rows(x, tape->rows());
  auto& site = tape->site_of<RowSite>(this, [&] {
    return std::make_unique<RowSite>(tape->rows(), std::vector<Tensor>{bias}, tape->kernels());
  });
  return watched([&] { return x + constant(bias); }, x.requires_grad(),
                 [&site](const Tensor& gradient) { site.add_use(0, gradient); });
}

DropoutImpl::DropoutImpl(double p) : p_(p) {
  require("dropout", "p", p, at_least(0).less_than(1));
}

// Outside of an objective's pass, as when a network is trained on public data, each call has masks of its
// own.
Tensor DropoutImpl::forward(const Tensor& x) {
  if (!is_training() || p_ == 0) return x;
  if (RowDraws* const draws = RowDraws::current()) return x * draws->mask(x, p_);
  std::vector<std::uint64_t> rows(static_cast<std::size_t>(x.size(0)));
  std::iota(rows.begin(), rows.end(), std::uint64_t{0});
  KeyedBits bits(SecureRandom::for_this_thread());
  return x * RowDraws(rows, bits).mask(x, p_);
}

MultiheadAttentionImpl::MultiheadAttentionImpl(std::int64_t size, std::int64_t heads)
    : in(register_module("in", Linear(size, 3 * size))),
      out(register_module("out", Linear(size, size))),
      heads_(heads) {
  if (heads < 1 || size % heads != 0) throw InputError("attention: expected a size that the heads divide");
}

Tensor MultiheadAttentionImpl::forward(const Tensor& x, const Tensor& padding) {
  const std::int64_t rows = x.size(0);
  const std::int64_t tokens = x.size(1);
  const std::int64_t width = x.size(2) / heads_;
  const Tensor parts = in(x).view({rows, tokens, 3, heads_, width}).permute({2, 0, 3, 1, 4});
  const Tensor queries = parts[0] / std::sqrt(static_cast<double>(width));
  Tensor scores = torch::matmul(queries, parts[1].transpose(-2, -1));
  if (padding.defined()) {
    // A finite number: a text of nothing but padding still has a softmax.
    scores = scores.masked_fill(padding.view({rows, 1, 1, tokens}), -1e9);
  }
  const Tensor mixed = torch::matmul(torch::softmax(scores, -1), parts[2]);
  return out(mixed.transpose(1, 2).reshape({rows, tokens, heads_ * width}));
}

GRUCellImpl::GRUCellImpl(std::int64_t inputs, std::int64_t size)
    : of_input(register_module("of_input", Linear(inputs, 3 * size))),
      of_state(register_module("of_state", Linear(size, 3 * size))) {}

Tensor GRUCellImpl::forward(const Tensor& x, const Tensor& state) {
  const std::vector<Tensor> i = of_input(x).chunk(3, 1);
  const std::vector<Tensor> h = of_state(state).chunk(3, 1);
  const Tensor reset = torch::sigmoid(i[0] + h[0]);
  const Tensor keep = torch::sigmoid(i[1] + h[1]);
  const Tensor candidate = torch::tanh(i[2] + reset * h[2]);
  return candidate + keep * (state - candidate);
}

LSTMCellImpl::LSTMCellImpl(std::int64_t inputs, std::int64_t size)
    : of_input(register_module("of_input", Linear(inputs, 4 * size))),
      of_state(register_module("of_state", Linear(size, 4 * size))) {}

LSTMCellImpl::State LSTMCellImpl::forward(const Tensor& x, const State& state) {
  const auto& [hidden, cell] = state;
  const std::vector<Tensor> gates = (of_input(x) + of_state(hidden)).chunk(4, 1);
  const Tensor next = torch::sigmoid(gates[1]) * cell + torch::sigmoid(gates[0]) * torch::tanh(gates[2]);
  return {torch::sigmoid(gates[3]) * torch::tanh(next), next};
}

LoraLinearImpl::LoraLinearImpl(Linear frozen, std::int64_t rank, double scale)
    : base(register_module("base", std::move(frozen))),
      down(register_module("down", Linear(torch::nn::LinearOptions(base->weight.size(1), rank).bias(false)))),
      up(register_module("up", Linear(torch::nn::LinearOptions(rank, base->weight.size(0)).bias(false)))),
      scale_(scale) {
  freeze(*base);
  const torch::NoGradGuard no_gradient;
  up->weight.zero_();
}

Tensor LoraLinearImpl::forward(const Tensor& x) {
  return base(x) + up(down(x)) * scale_;
}

void freeze(torch::nn::Module& module) {
  for (Tensor& parameter : module.parameters()) parameter.requires_grad_(false);
}

void train_biases_only(torch::nn::Module& module) {
  for (auto& parameter : module.named_parameters()) {
    const std::string& name = parameter.key();
    parameter.value().requires_grad_(name == "bias" || name.ends_with(".bias"));
  }
}

}  // namespace ration::nn
