#pragma once

// Networks drawn at random from all layers, and rows of every kind for them: numbers that are huge, tiny, NaN
// or infinite, positions that cancel, tokens that stand more than once and tokens that there are not.

#include <torch/torch.h>

#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "ration/base/random.h"
#include "ration/objectives/neural/layers.h"
#include "ration/objectives/neural/models.h"
#include "ration/objectives/neural/neural.h"

namespace ration::nn {

// Where the choices come from: a seed in tests, the bytes of an input in fuzz/network.cpp.
class Dice {
 public:
  virtual ~Dice() = default;
  virtual std::int64_t below(std::int64_t n) = 0;
  virtual double normal() = 0;
  virtual RandomSource& source() = 0;

  bool one_in(std::int64_t n) { return below(n) == 0; }
  template <class T>
  T of(const std::vector<T>& values) {
    return values[static_cast<std::size_t>(below(static_cast<std::int64_t>(values.size())))];
  }
};

// rows x places x width, step by step.
struct DrawnImpl : torch::nn::Module {
  DrawnImpl(Dice& dice, std::int64_t places, std::int64_t inputs, std::int64_t tokens, bool tame)
      : places_(places), width_(inputs) {
    if (tokens > 0) {
      width_ = 1 + dice.below(8);
      Embedding table = add(Embedding(tokens, width_));
      steps_.push_back([table](const torch::Tensor& x) mutable { return table(x); });
    }
    const std::int64_t count = 1 + dice.below(4);
    for (std::int64_t i = 0; i < count; ++i) add_step(dice, tame);
    add_end(dice);
  }

  torch::Tensor forward(torch::Tensor x) {
    for (const auto& step : steps_) x = step(x);
    return x;
  }

 private:
  using Step = std::function<torch::Tensor(const torch::Tensor&)>;

  template <class Holder>
  Holder add(Holder holder) {
    return register_module(std::to_string(children().size()), holder);
  }
  void push(Step step) { steps_.push_back(std::move(step)); }

  void add_step(Dice& dice, bool tame) {
    const std::int64_t next = 1 + dice.below(9);
    switch (dice.below(tame ? 11 : 13)) {
      case 0:
        push([layer = add(Linear(torch::nn::LinearOptions(width_, next).bias(dice.one_in(2))))](
                 const torch::Tensor& x) mutable { return torch::tanh(layer(x)); });
        width_ = next;
        break;
      case 1:
        push([layer = add(LayerNorm(torch::nn::LayerNormOptions({width_}).eps(0.1)))](
                 const torch::Tensor& x) mutable { return layer(x); });
        break;
      case 2:
        push([layer = add(RMSNorm(width_, 0.1))](const torch::Tensor& x) mutable { return layer(x); });
        break;
      case 3:
        push([layer = add(Bias(std::vector<std::int64_t>{places_, width_}))](const torch::Tensor& x) mutable {
          return layer(x);
        });
        break;
      case 4: {
        const std::int64_t heads = width_ % 2 == 0 ? 2 : 1;
        push([layer = add(MultiheadAttention(width_, heads))](const torch::Tensor& x) mutable {
          return x + layer(x);
        });
        break;
      }
      case 5:
        push([layer = add(GRUCell(width_, next)), next](const torch::Tensor& x) mutable {
          torch::Tensor state = torch::zeros({x.size(0), next}, x.options());
          std::vector<torch::Tensor> all;
          for (std::int64_t t = 0; t < x.size(1); ++t) all.push_back(state = layer(x.select(1, t), state));
          return torch::stack(all, 1);
        });
        width_ = next;
        break;
      case 6:
        push([layer = add(LSTMCell(width_, next)), next](const torch::Tensor& x) mutable {
          torch::Tensor h = torch::zeros({x.size(0), next}, x.options()), c = h;
          std::vector<torch::Tensor> all;
          for (std::int64_t t = 0; t < x.size(1); ++t) {
            std::tie(h, c) = layer(x.select(1, t), LSTMCellImpl::State{h, c});
            all.push_back(h);
          }
          return torch::stack(all, 1);
        });
        width_ = next;
        break;
      case 7:
        push([layer = add(Conv1d(torch::nn::Conv1dOptions(width_, next, 3).padding(1)))](
                 const torch::Tensor& x) mutable {
          return torch::relu(layer(x.transpose(1, 2))).transpose(1, 2);
        });
        width_ = next;
        break;
      case 8:
        push([layer = add(GroupNorm(torch::nn::GroupNormOptions(1, width_).eps(0.1)))](
                 const torch::Tensor& x) mutable { return layer(x.transpose(1, 2)).transpose(1, 2); });
        break;
      case 9:
        push([layer = add(LoraLinear(Linear(width_, next), 2))](const torch::Tensor& x) mutable {
          return layer(x);
        });
        width_ = next;
        break;
      case 10:
        push([](const torch::Tensor& x) { return torch::tanh(x); });
        break;
      case 11:
        push([layer = add(Dropout(0.3))](const torch::Tensor& x) mutable { return layer(x); });
        break;
      default:
        push([by = dice.of<double>({1e-20, 1e-12, 1e-6, 1e6, 1e12})](const torch::Tensor& x) {
          return x * by;
        });
    }
  }

  void add_end(Dice& dice) {
    switch (dice.below(3)) {
      case 0:
        push([](const torch::Tensor& x) { return x.mean(1); });
        break;
      case 1:  // what a place gives, another takes back
        push([](const torch::Tensor& x) {
          const torch::Tensor signs = 1 - 2 * (torch::arange(x.size(1), x.options()) % 2);
          return (x * signs.view({1, -1, 1})).sum(1);
        });
        break;
      default:
        push([](const torch::Tensor& x) { return x.flatten(1); });
        width_ *= places_;
    }
    push([layer = add(Linear(width_, 3))](const torch::Tensor& x) mutable { return layer(x); });
  }

  std::int64_t places_, width_;
  std::vector<Step> steps_;
};
TORCH_MODULE(Drawn);

struct DrawnCase {
  Network net;
  NeuralOptions options;
  std::int64_t tokens;
};

inline DrawnCase draw_case(Dice& dice, bool tame) {
  const std::int64_t places = 2 * (1 + dice.below(5));
  const std::int64_t inputs = 1 + dice.below(6);
  const std::int64_t tokens = dice.one_in(3) ? 2 + dice.below(6) : 0;
  Network net = Drawn(dice, places, inputs, tokens, tame);
  initialise(*net.module, dice.source());
  {
    const torch::NoGradGuard no_gradient;
    for (torch::Tensor& one : net.module->parameters()) {
      for (std::int64_t i = 0; i < one.numel(); ++i) one.data_ptr<float>()[i] += 0.2f * float(dice.normal());
    }
  }
  std::vector<std::int64_t> shape{places};
  if (tokens == 0) shape.push_back(inputs);
  return {net,
          {.input = shape,
           .classes = 3,
           .ids_below = dice.one_in(4) ? 0 : tokens,
           .most_kept = dice.of<std::int64_t>({0, 2000, Tape::kMostKept}),
           .rows_at_once = static_cast<std::size_t>(1 + dice.below(9)),
           .threads = 1,
           .kernels = dice.one_in(3) ? Kernels::portable : Kernels::fastest},
          tokens};
}

inline std::vector<double> draw_row(Dice& dice, std::size_t columns, std::int64_t tokens, bool tame) {
  std::vector<double> row(columns);
  for (double& value : row) value = tokens > 0 ? static_cast<double>(dice.below(tokens)) : dice.normal();
  if (tame) return row;
  const double inf = std::numeric_limits<double>::infinity();
  const auto any = [&]() -> double& { return row[static_cast<std::size_t>(dice.below(std::ssize(row)))]; };
  switch (dice.below(6)) {
    case 0:
      any() = dice.of<double>({inf, -inf, std::nan(""), 1e300, 1e30});
      break;
    case 1:
      if (tokens > 0) {
        any() = dice.of<double>({-1, double(tokens), 1e12});
      } else {
        const double by = dice.of<double>({1e-30, 1e-12, 1e7, 1e14, 1e18, 1e25});
        for (double& value : row) value *= by;
      }
      break;
    case 2:  // all places alike
      for (std::size_t j = 0; j < columns; ++j) row[j] = tokens > 0 ? row[0] : row[j % (columns / 2)];
      break;
    case 3:  // the second half takes back the first
      if (tokens == 0) {
        for (std::size_t j = columns / 2; j < columns; ++j) row[j] = -row[j - columns / 2];
      }
      break;
    case 4:
      std::fill(row.begin(), row.end(), 0.0);
      break;
    default:
      break;
  }
  return row;
}

inline std::shared_ptr<const Rows> draw_rows(Dice& dice, const DrawnCase& drawn, std::size_t count,
                                             bool tame) {
  std::size_t columns = 1;
  for (const std::int64_t size : drawn.options.input) columns *= static_cast<std::size_t>(size);
  std::vector<double> values, labels;
  for (std::size_t row = 0; row < count; ++row) {
    const auto one = draw_row(dice, columns, drawn.tokens, tame);
    values.insert(values.end(), one.begin(), one.end());
    labels.push_back(static_cast<double>(dice.below(3)));
  }
  return std::make_shared<const Rows>(Rows::dense(columns, std::move(values), std::move(labels)));
}

inline AnyClipRule draw_rule(Dice& dice) {
  const AnyClipRule rule = dice.of<AnyClipRule>(
      {Abadi{0.5}, Abadi{1e-3}, Abadi{100}, AutoV{1}, AutoV{1e3}, AutoS{1, 0.01}, AutoS{2, 1e-12}});
  return dice.one_in(2) ? rule.per_layer() : rule;
}

}  // namespace ration::nn
