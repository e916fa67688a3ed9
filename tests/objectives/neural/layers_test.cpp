#include "ration/objectives/neural/layers.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "objectives/neural/nets.h"

namespace ration::nn {
namespace {

struct Case {
  std::string name;
  std::vector<std::int64_t> input;
  std::function<Network()> make;
  std::int64_t ids_below = 0;
};

struct OverTimeImpl : torch::nn::Module {
  explicit OverTimeImpl(bool lstm) : lstm_(lstm) {
    if (lstm_) {
      cell2 = register_module("cell", LSTMCell(3, 5));
    } else {
      cell1 = register_module("cell", GRUCell(3, 5));
    }
    out = register_module("out", Linear(5, 4));
  }
  torch::Tensor forward(const torch::Tensor& x) {
    torch::Tensor h = torch::zeros({x.size(0), 5}, x.options());
    torch::Tensor c = torch::zeros({x.size(0), 5}, x.options());
    for (std::int64_t t = 0; t < x.size(1); ++t) {
      const torch::Tensor now = x.select(1, t);
      if (lstm_) {
        std::tie(h, c) = cell2(now, LSTMCellImpl::State{h, c});
      } else {
        h = cell1(now, h);
      }
    }
    return out(h);
  }
  bool lstm_;
  GRUCell cell1{nullptr};
  LSTMCell cell2{nullptr};
  Linear out{nullptr};
};
TORCH_MODULE(OverTime);

struct AttentionImpl : torch::nn::Module {
  AttentionImpl() {
    embed = register_module("embed", Embedding(11, 8));
    place = register_module("place", Bias(std::vector<std::int64_t>{6, 8}));
    norm = register_module("norm", LayerNorm(torch::nn::LayerNormOptions({8})));
    attend = register_module("attend", MultiheadAttention(8, 2));
    rms = register_module("rms", RMSNorm(8));
    out = register_module("out", Linear(8, 4));
  }
  torch::Tensor forward(const torch::Tensor& ids) {
    torch::Tensor x = place(embed(ids));
    x = x + attend(norm(x), ids == 0);
    return out(rms(x).mean(1));
  }
  Embedding embed{nullptr};
  Bias place{nullptr};
  LayerNorm norm{nullptr};
  MultiheadAttention attend{nullptr};
  RMSNorm rms{nullptr};
  Linear out{nullptr};
};
TORCH_MODULE(Attention);

// One convolution twice, on inputs of different size.
struct SharedConvImpl : torch::nn::Module {
  SharedConvImpl() {
    conv = register_module("conv", Conv2d(torch::nn::Conv2dOptions(2, 2, 3).padding(1)));
    out = register_module("out", Linear(2, 4));
  }
  torch::Tensor forward(const torch::Tensor& x) {
    torch::Tensor y = torch::relu(conv(x));
    y = torch::max_pool2d(y, 2);
    return out(torch::tanh(conv(y)).mean({2, 3}));
  }
  Conv2d conv{nullptr};
  Linear out{nullptr};
};
TORCH_MODULE(SharedConv);

torch::nn::Functional mean_over_places() {
  return torch::nn::Functional([](const torch::Tensor& x) { return x.flatten(2).mean(2); });
}

std::vector<Case> cases() {
  using torch::nn::Conv1dOptions;
  using torch::nn::Conv2dOptions;
  using torch::nn::Functional;
  using torch::nn::Sequential;
  const auto relu = [] { return Functional(torch::relu); };
  return {
      {"Linear", {7}, [=] { return Network(Sequential(Linear(7, 9), relu(), Linear(9, 4))); }},
      {"LinearWithoutBias",
       {7},
       [] { return Network(Sequential(Linear(torch::nn::LinearOptions(7, 4).bias(false)))); }},
      {"LinearOverTokensKept",
       {20, 3},
       [=] { return Network(Sequential(Linear(3, 2), relu(), torch::nn::Flatten(), Linear(40, 4))); }},
      {"LinearOverTokensGram",
       {3, 30},
       [=] { return Network(Sequential(Linear(30, 40), relu(), torch::nn::Flatten(), Linear(120, 4))); }},
      {"Conv2d",
       {3, 9, 8},
       [=] {
         return Network(Sequential(Conv2d(Conv2dOptions(3, 5, 3).stride(2).padding(1)), relu(),
                                   torch::nn::Flatten(), Linear(100, 4)));
       }},
      {"Conv2dOddShape",
       {2, 7, 9},
       [=] {
         return Network(
             Sequential(Conv2d(Conv2dOptions(2, 4, {2, 3}).stride({1, 2}).padding({1, 2}).dilation({2, 1})),
                        relu(), mean_over_places(), Linear(4, 4)));
       }},
      {"Conv2dGroups",
       {4, 6, 6},
       [=] {
         return Network(Sequential(Conv2d(Conv2dOptions(4, 6, 3).groups(2).bias(false)), relu(),
                                   mean_over_places(), Linear(6, 4)));
       }},
      {"Conv2dFewPositions",
       {16, 4, 4},
       [=] {
         return Network(
             Sequential(Conv2d(Conv2dOptions(16, 24, 3)), relu(), mean_over_places(), Linear(24, 4)));
       }},
      {"Conv2dManyPositions",
       {2, 20, 20},
       [=] {
         return Network(Sequential(Conv2d(Conv2dOptions(2, 3, 3)), relu(), mean_over_places(), Linear(3, 4)));
       }},
      {"Conv1d",
       {3, 11},
       [=] {
         return Network(Sequential(Conv1d(Conv1dOptions(3, 5, 4).stride(2).padding(1)), relu(),
                                   mean_over_places(), Linear(5, 4)));
       }},
      {"GroupNorm",
       {4, 5, 5},
       [=] {
         return Network(
             Sequential(Conv2d(4, 6, 3), GroupNorm(3, 6), relu(), mean_over_places(), Linear(6, 4)));
       }},
      {"InstanceNorm",
       {4, 6},
       [=] { return Network(Sequential(InstanceNorm(4), relu(), mean_over_places(), Linear(4, 4))); }},
      {"LayerNormFirst",
       {5, 6},
       [=] {
         return Network(
             Sequential(LayerNorm(torch::nn::LayerNormOptions({5, 6})), torch::nn::Flatten(), Linear(30, 4)));
       }},
      {"OverTimeGru", {5, 3}, [] { return Network(OverTime(false)); }},
      {"OverTimeLstm", {5, 3}, [] { return Network(OverTime(true)); }},
      {"Attention", {6}, [] { return Network(Attention()); }, 11},
      {"SharedConvolution", {2, 6, 6}, [] { return Network(SharedConv()); }},
      {"Lora", {7}, [=] { return Network(Sequential(LoraLinear(Linear(7, 9), 2), relu(), Linear(9, 4))); }},
      {"BiasesOnly",
       {2, 6, 6},
       [=] {
         Network net =
             Network(Sequential(Conv2d(2, 3, 3), GroupNorm(1, 3), relu(), mean_over_places(), Linear(3, 4)));
         train_biases_only(*net.module);
         return net;
       }},
  };
}

std::vector<AnyClipRule> rules() {
  return {Abadi{.R = 0.3}, Abadi{.R = 1e4}, AutoV{.R = 1}, AutoS{.R = 1, .gamma = 0.01}};
}

class LayersOnTape : public testing::TestWithParam<Case> {
 protected:
  NeuralOptions options() const {
    return {.input = GetParam().input, .classes = 4, .ids_below = GetParam().ids_below, .threads = 1};
  }
  std::shared_ptr<const Rows> rows(std::size_t count) const {
    std::size_t columns = 1;
    for (const std::int64_t size : GetParam().input) columns *= static_cast<std::size_t>(size);
    return made_up_rows(count, columns, 4, 7, GetParam().ids_below);
  }
};

TEST_P(LayersOnTape, GiveTheClippedSumOfRowByRowGradients) {
  const auto table = rows(13);
  Network net = GetParam().make();
  // LoRA's second factor begins at zero, where most gradients vanish.
  {
    const torch::NoGradGuard no_gradient;
    for (torch::Tensor& one : net.module->parameters())
      one.add_(torch::sin(torch::arange(one.numel())).view_as(one) / 7);
  }
  const std::vector<double> w = trained_parameters(*net.module);
  for (const auto& [most_kept, kernels] :
       {std::pair{Tape::kMostKept, Kernels::fastest}, std::pair{std::int64_t{0}, Kernels::fastest},
        std::pair{Tape::kMostKept, Kernels::portable},
        // Several rows at a time, and one.
        std::pair{std::int64_t{3000}, Kernels::portable}, std::pair{std::int64_t{0}, Kernels::portable}}) {
    SCOPED_TRACE(kernels == Kernels::portable ? "portable" : "fastest");
    NeuralOptions chosen = options();
    chosen.most_kept = most_kept;
    chosen.kernels = kernels;
    const auto objective = make_neural(net, table, chosen);
    for (const AnyClipRule& rule : rules()) {
      SCOPED_TRACE(std::string(rule.name()));
      ASSERT_GT(length(clipped(*objective, w, all_rows(13), rule)), 0);
      const bool has_room = kernels == Kernels::portable || most_kept == 0;
      const bool clips = rule.bound() < 1e4;
      expect_clipped_sum(*objective, net, *table, chosen, w, all_rows(13), rule,
                         has_room && clips ? kRoomOfSums : 0);
    }
  }
}

TEST_P(LayersOnTape, KeepsEachContributionWithinItsBound) {
  const auto table = rows(9);
  Network net = GetParam().make();
  for (const Kernels kernels : {Kernels::fastest, Kernels::portable}) {
    NeuralOptions chosen = options();
    chosen.kernels = kernels;
    const auto objective = make_neural(net, table, chosen);
    const std::vector<double> w = trained_parameters(*net.module);
    std::vector<double> sum(objective->parameters());
    for (const AnyClipRule& rule : rules()) {
      for (std::uint64_t row = 0; row < 9; ++row) {
        Batch one{.rows = {row}};
        objective->clipped_gradient_sum(w, one, rule, sum);
        EXPECT_LE(length(sum), rule.bound());
        objective->clipped_gradient_sum(w, one, rule.per_layer(), sum);
        EXPECT_LE(length(sum), rule.bound());
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, LayersOnTape, testing::ValuesIn(cases()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace ration::nn
