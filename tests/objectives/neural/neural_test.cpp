#include "ration/objectives/neural/neural.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/distributions.h"
#include "objectives/neural/nets.h"
#include "objectives/neural/position_site.h"
#include "ration/base/error.h"
#include "ration/objectives/neural/models.h"
#include "ration/objectives/row_outputs.h"
#include "support/doubles.h"

namespace ration::nn {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using torch::nn::Conv2dOptions;
using torch::nn::Functional;
using torch::nn::Sequential;

Network small_net() {
  return Sequential(Linear(6, 5), Functional(torch::tanh), Linear(5, 3));
}
const NeuralOptions kSmall{.input = {6}, .classes = 3, .threads = 1};

// A random network of convolutions, norms and linear layers, in any order that fits.
struct Drawn {
  Network net;
  NeuralOptions options;
};

Drawn random_network(RandomSource& random) {
  const auto below = [&](std::uint64_t n) { return static_cast<std::int64_t>(uniform_below(random, n)); };
  Sequential net;
  std::int64_t channels = 1 + below(3);
  std::int64_t size = 6 + below(4);
  const std::vector<std::int64_t> input{channels, size, size};
  const std::int64_t blocks = 1 + below(3);
  for (std::int64_t i = 0; i < blocks; ++i) {
    const std::int64_t groups = channels % 2 == 0 && below(2) == 0 ? 2 : 1;
    const std::int64_t outputs = groups * (1 + below(4));
    const std::int64_t kernel = 1 + below(4);
    const std::int64_t stride = 1 + below(3);
    const std::int64_t padding = below(static_cast<std::uint64_t>(kernel));
    const std::int64_t dilation = 1 + below(2);
    const std::int64_t reach = (kernel - 1) * dilation + 1;
    if (size + 2 * padding < reach) break;
    const std::int64_t next_size = (size + 2 * padding - reach) / stride + 1;
    // A norm of few numbers, of a single one above all, magnifies the last digits, in which a batch and a row
    // may differ; and one right after a bias or a kernel of a single weight undoes these, which leaves a
    // gradient of last digits.
    const std::int64_t norm_groups = outputs % 2 == 0 ? 2 : 1;
    const bool with_norm = kernel > 1 && outputs / norm_groups * next_size * next_size >= 8 && below(2) == 0;
    net->push_back(Conv2d(Conv2dOptions(channels, outputs, kernel)
                              .stride(stride)
                              .padding(padding)
                              .dilation(dilation)
                              .groups(groups)
                              .bias(!with_norm && below(2) == 0)));
    channels = outputs;
    size = next_size;
    if (with_norm) net->push_back(GroupNorm(norm_groups, channels));
    net->push_back(below(2) == 0 ? Functional(torch::relu) : Functional(torch::tanh));
  }
  std::int64_t width = channels * size * size;
  net->push_back(torch::nn::Flatten());
  if (below(2) == 0) {
    net->push_back(Linear(width, 7));
    net->push_back(LayerNorm(torch::nn::LayerNormOptions({7})));
    width = 7;
  }
  net->push_back(Linear(width, 3));
  return {net,
          {.input = input,
           .classes = 3,
           .most_kept = below(2) * Tape::kMostKept,
           .rows_at_once = static_cast<std::size_t>(1 + below(6)),
           // Threads that wait spin: few, for busy machines.
           .threads = below(8) == 0 ? std::size_t{2} : std::size_t{1},
           .kernels = below(4) == 0 ? Kernels::portable : Kernels::fastest}};
}

// A norm divides by the size of what comes in: after tiny weights it magnifies the rounding to 32 bits.
void keep_away_from_zero(torch::nn::Module& network) {
  const torch::NoGradGuard no_gradient;
  for (torch::Tensor& one : network.parameters()) one.add_(0.1 * one.sign());
}

TEST(Networks, OfAnyArchitectureGiveTheClippedSum) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(seed);
    ration::testing::SeededRandom random(seed);
    const Drawn drawn = random_network(random);
    initialise(*drawn.net.module, random);
    keep_away_from_zero(*drawn.net.module);
    std::size_t columns = 1;
    for (const std::int64_t size : drawn.options.input) columns *= static_cast<std::size_t>(size);
    const auto rows = made_up_rows(8, columns, 3, seed);
    const std::vector<AnyClipRule> rules{Abadi{0.5}, AutoV{2}, AutoS{1, 0.1}};
    const AnyClipRule rule = rules[seed % 3];
    const auto objective = make_neural(drawn.net, rows, drawn.options);
    const std::vector<double> w = trained_parameters(*drawn.net.module);
    const auto sum = clipped(*objective, w, all_rows(8), rule);
    expect_clipped_sum(*objective, drawn.net, *rows, drawn.options, w, all_rows(8), rule, kRoomOfSums);
    expect_clipped_sum(*objective, drawn.net, *rows, drawn.options, w, all_rows(8), Abadi{1e4}, 0);
    // Neighbours: one row more.
    Batch fewer = all_rows(8);
    fewer.rows.erase(fewer.rows.begin() + 3);
    EXPECT_LE(distance(sum, clipped(*objective, w, fewer, rule)), rule.bound() * (1 + 1e-6));
  }
}

TEST(Networks, ClipEachLayerToItsPart) {
  const auto rows = made_up_rows(1, 6, 3, 1);
  Network net = small_net();
  const auto objective = make_neural(net, rows, kSmall);
  const auto w = trained_parameters(*net.module);
  const auto sum = clipped(*objective, w, all_rows(1), AnyClipRule(AutoV{2}).per_layer());
  const std::vector<double> first(sum.begin(), sum.begin() + 35), second(sum.begin() + 35, sum.end());
  const double part = 2 / std::sqrt(2.0);  // of two layers
  EXPECT_NEAR(length(first), part, 1e-5);
  EXPECT_NEAR(length(second), part, 1e-5);
}

TEST(Networks, TakeLargeBatchesInParts) {
  const auto rows = made_up_rows(50, 6, 3, 2);
  Network net = small_net();
  NeuralOptions in_parts = kSmall;
  in_parts.rows_at_once = 7;
  const auto w = trained_parameters(*net.module);
  const auto whole = clipped(*make_neural(net, rows, kSmall), w, all_rows(50), AutoS{});
  const auto parts = clipped(*make_neural(net, rows, in_parts), w, all_rows(50), AutoS{});
  EXPECT_LT(distance(whole, parts), 1e-5 * length(whole));
}

TEST(Networks, TrainOnSparseRowsAsOnDenseOnes) {
  const auto dense = made_up_rows(9, 6, 3, 3);
  SparseMatrix matrix{.columns = 6};
  for (std::size_t row = 0; row < 9; ++row) {
    for (std::size_t j = 0; j < 6; ++j) {
      matrix.indices.push_back(static_cast<std::int32_t>(j));
      matrix.values.push_back(dense->dense_row(row)[j]);
    }
    matrix.starts.push_back(matrix.values.size());
  }
  const auto sparse =
      std::make_shared<const Rows>(Rows::sparse(matrix, {dense->labels().begin(), dense->labels().end()}));
  Network net = small_net();
  const auto w = trained_parameters(*net.module);
  EXPECT_EQ(clipped(*make_neural(net, dense, kSmall), w, all_rows(9), AutoS{}),
            clipped(*make_neural(net, sparse, kSmall), w, all_rows(9), AutoS{}));
}

// The longest contribution of the single row of a network at its present weights, under both kernels, as a
// whole and layer by layer.
double longest_contribution(Network net, const Rows& row, NeuralOptions options, const AnyClipRule& rule) {
  double longest = 0;
  for (const Kernels kernels : {Kernels::fastest, Kernels::portable}) {
    options.kernels = kernels;
    const auto objective = make_neural(net, std::make_shared<const Rows>(row), options);
    const auto w = trained_parameters(*net.module);
    for (const AnyClipRule& chosen : {rule, rule.per_layer()})
      longest = std::max(longest, length(clipped(*objective, w, all_rows(1), chosen)));
  }
  return longest;
}

// A row that is classified for sure has slopes whose squares vanish in 32 bits.
TEST(Networks, ARowThatIsClassifiedForSureStaysWithinItsBound) {
  std::vector<double> all{10, 90, 400};
  for (double sure = 48; sure < 54; sure += 0.25)
    all.push_back(sure);  // where some squares vanish and others do not
  for (const double sure : all) {
    Linear first(4, 2000), last(2000, 3);
    Network net = Sequential(first, Functional(torch::tanh), last);
    {
      const torch::NoGradGuard no_gradient;
      first->weight.mul_(0.01);
      last->weight.mul_(8);
      last->bias.copy_(torch::tensor({static_cast<float>(sure), 0.0f, 0.0f}));
    }
    const Rows row = Rows::dense(4, {0.5, -0.25, 1, 0.125}, {0});
    const NeuralOptions options{.input = {4}, .classes = 3, .threads = 1};
    for (const AnyClipRule& rule :
         {AnyClipRule(AutoV{1}), AnyClipRule(AutoS{1, 1e-30}), AnyClipRule(Abadi{1})})
      EXPECT_LE(longest_contribution(net, row, options, rule), 1) << sure << " " << rule.name();
  }
}

// Two tokens with all but opposite gradients: what is left of them is small beside what was added up.
struct OppositeImpl : torch::nn::Module {
  explicit OppositeImpl(double rest) : rest_(rest) {
    layer = register_module("layer", Linear(20, 20));
    const torch::NoGradGuard no_gradient;
    for (std::int64_t i = 0; i < 20; ++i) layer->weight[i].fill_(0.01 * static_cast<double>(i + 1));
  }
  torch::Tensor forward(const torch::Tensor& x) {
    const torch::Tensor y = layer(x);
    const torch::Tensor mixed = 1e4 * (y.select(1, 0) - (1 - rest_) * y.select(1, 1));
    return torch::stack({mixed.sum(1), (mixed * torch::arange(20)).sum(1) * 0.3}, 1) / 1e3;
  }
  Linear layer{nullptr};
  double rest_;
};
TORCH_MODULE(Opposite);

TEST(Networks, PositionsThatCancelStayWithinTheBound) {
  std::vector<double> tokens(40);
  for (std::size_t i = 0; i < 40; ++i) tokens[i] = 0.1 + 0.37 * static_cast<double>(i % 20 % 7);
  const Rows row = Rows::dense(40, tokens, {0});
  const NeuralOptions options{.input = {2, 20}, .classes = 2, .threads = 1};
  for (int i = 1; i <= 40; ++i) {
    const double rest = 4e-5 * i;
    EXPECT_LE(longest_contribution(Opposite(rest), row, options, Abadi{0.1}), 0.1) << rest;
  }
}

// A token that stands twice with all but opposite gradients.
struct SameTokenImpl : torch::nn::Module {
  explicit SameTokenImpl(double rest) : rest_(rest) { table = register_module("table", Embedding(3, 8)); }
  torch::Tensor forward(const torch::Tensor& ids) {
    const torch::Tensor y = table(ids);
    const torch::Tensor mixed = 1e4 * (y.select(1, 0) - (1 - rest_) * y.select(1, 1)) * torch::arange(1, 9);
    return torch::stack({mixed.sum(1), -mixed.sum(1)}, 1) / 1e3;
  }
  Embedding table{nullptr};
  double rest_;
};
TORCH_MODULE(SameToken);

TEST(Networks, EqualTokensThatCancelStayWithinTheBound) {
  const Rows row = Rows::dense(2, {1, 1}, {0});
  const NeuralOptions options{.input = {2}, .classes = 2, .ids_below = 3, .threads = 1};
  for (int i = 1; i <= 40; ++i) {
    const double rest = 4e-5 * i;
    EXPECT_LE(longest_contribution(SameToken(rest), row, options, Abadi{0.1}), 0.1) << rest;
  }
}

std::vector<double> float_sum(Objective& objective, const Weights& w) {
  const auto sum = objective.clipped_gradient_float_sum(w.all(), all_rows(9), AutoS{});
  return {sum.begin(), sum.end()};
}

TEST(Networks, ComputeAtTheWeightsTheyAreLent) {
  const auto rows = made_up_rows(9, 6, 3, 3);
  Network net = small_net();
  const auto objective = make_neural(net, rows, kSmall);
  const auto first = trained_parameters(*net.module);
  std::vector<double> second = first;
  for (double& value : second) value = static_cast<double>(static_cast<float>(0.5 * value + 0.1));
  const auto at_first = clipped(*objective, first, all_rows(9), AutoS{});
  const auto at_second = clipped(*objective, second, all_rows(9), AutoS{});
  Weights w(first, Weights::Kept::in_floats);
  EXPECT_EQ(float_sum(*objective, w), at_first);
  w.set(second);  // the same memory
  EXPECT_EQ(float_sum(*objective, w), at_second);
  EXPECT_EQ(clipped(*objective, first, all_rows(9), AutoS{}), at_first);  // in memory of its own again
  std::vector<double> lent(second.size());
  w.copy_to(lent);
  EXPECT_EQ(lent, second);
  EXPECT_EQ(float_sum(*objective, w), at_second);
}

TEST(Networks, DevicesThatAreNotThereAreRefused) {
  EXPECT_NO_THROW(require_device("cpu"));
  EXPECT_THAT(refusal([] { require_device("gpu"); }),
              HasSubstr("expected cpu, cuda or cuda:NUMBER, got 'gpu'"));
  EXPECT_THAT(refusal([] { require_device("mkldnn"); }),
              HasSubstr("expected cpu, cuda or cuda:NUMBER, got 'mkldnn'"));
  if (torch::cuda::is_available()) {
    EXPECT_NO_THROW(require_device("cuda"));
    EXPECT_THAT(refusal([] { require_device("cuda:99"); }), HasSubstr("got 'cuda:99'"));
  } else {
    EXPECT_THAT(refusal([] { require_device("cuda"); }), HasSubstr("finds no CUDA device on this machine"));
  }
}

// Where there is a CUDA device: the same sums there.
TEST(Networks, AnotherDeviceGivesTheSameSums) {
  if (!torch::cuda::is_available()) GTEST_SKIP() << "no CUDA device";
  const auto rows = made_up_rows(9, 6, 3, 3);
  Network net = small_net(), there = small_net();
  const auto w = trained_parameters(*net.module);
  NeuralOptions on_device = kSmall;
  on_device.device = "cuda";
  const auto here = clipped(*make_neural(net, rows, kSmall), w, all_rows(9), AutoS{});
  EXPECT_LT(distance(here, clipped(*make_neural(there, rows, on_device), w, all_rows(9), AutoS{})),
            1e-5 * length(here));
}

TEST(Networks, LetRowsWithoutAFiniteNormContributeNothing) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double bad : {nan, infinity, 1e30}) {
    for (const auto& [conv, kernels] :
         {std::pair{false, Kernels::fastest}, std::pair{true, Kernels::fastest},
          std::pair{false, Kernels::portable}, std::pair{true, Kernels::portable}}) {
      std::vector<double> values(4 * 9, 0.5);
      values[9] = bad;
      const auto rows = std::make_shared<const Rows>(Rows::dense(9, values, {0, 1, 2, 0}));
      const NeuralOptions options{
          .input = conv ? std::vector<std::int64_t>{1, 3, 3} : std::vector<std::int64_t>{9},
          .classes = 3,
          .threads = 1,
          .kernels = kernels};
      Network net =
          conv ? Network(Sequential(Conv2d(1, 4, 2), GroupNorm(2, 4), torch::nn::Flatten(), Linear(16, 3)))
               : Network(Sequential(Linear(9, 4), Linear(4, 3)));
      const auto objective = make_neural(net, rows, options);
      const auto w = trained_parameters(*net.module);
      for (const bool per_layer : {false, true}) {
        const AnyClipRule rule = per_layer ? AnyClipRule(AutoS{}).per_layer() : AnyClipRule(AutoS{});
        const auto sum = clipped(*objective, w, all_rows(4), rule);
        Batch others = all_rows(4);
        others.rows.erase(others.rows.begin() + 1);
        for (const double value : sum) ASSERT_TRUE(std::isfinite(value));
        EXPECT_LE(distance(sum, clipped(*objective, w, others, rule)), 1.0);
      }
      std::vector<double> losses(1);
      const std::vector<Objective::Parameters> candidates{w};
      objective->clipped_loss_sums(candidates, all_rows(4), 0.5, losses);
      EXPECT_TRUE(std::isfinite(losses[0]));
    }
  }
}

TEST(Networks, AnswerAnEmptyBatchWithZeros) {
  Network net = small_net();
  const auto objective = make_neural(net, made_up_rows(4, 6, 3, 1), kSmall);
  const auto w = trained_parameters(*net.module);
  EXPECT_EQ(length(clipped(*objective, w, Batch{}, AutoS{})), 0);
  EXPECT_EQ(objective->count_norms_at_most(w, Batch{}, 1), 0u);
}

TEST(Networks, CountNormsAndClipLosses) {
  const auto rows = made_up_rows(20, 6, 3, 4);
  Network net = small_net();
  const auto objective = make_neural(net, rows, kSmall);
  const auto w = trained_parameters(*net.module);
  std::vector<double> norms;
  for (std::uint64_t row = 0; row < 20; ++row)
    norms.push_back(length(clipped(*objective, w, {.rows = {row}}, Abadi{1e6})));
  std::sort(norms.begin(), norms.end());
  EXPECT_EQ(objective->count_norms_at_most(w, all_rows(20), (norms[11] + norms[12]) / 2), 12u);

  const std::vector<double> direction(w.size(), 0.3), steps{0, 1};
  std::vector<double> along(2), at_start(1);
  objective->clipped_loss_sums_along({w, direction, steps}, all_rows(20), 0.9, along);
  const std::vector<Objective::Parameters> candidates{w};
  objective->clipped_loss_sums(candidates, all_rows(20), 0.9, at_start);
  EXPECT_EQ(along[0], at_start[0]);
  EXPECT_NE(along[1], at_start[0]);
  EXPECT_LE(along[1], 20 * 0.9);
  objective->clipped_loss_sums(candidates, all_rows(20), 1e6, at_start);
  EXPECT_NEAR(at_start[0] / 20, objective->mean_loss(w), 1e-9);
}

// In parts of 7 rows: every row has its own outputs, from which class and loss follow.
TEST(Networks, TellTheOutputsThatTheyPredictBy) {
  const auto rows = made_up_rows(20, 6, 3, 8);
  Network net = small_net();
  NeuralOptions options = kSmall;
  options.rows_at_once = 7;
  const auto objective = make_neural(net, rows, options);
  const auto w = trained_parameters(*net.module);
  std::vector<double> outputs(60), predictions(20);
  dynamic_cast<RowOutputs&>(*objective).outputs(w, outputs);
  objective->predict(w, predictions);
  double loss = 0;
  for (std::size_t row = 0; row < 20; ++row) {
    const auto* const z = &outputs[3 * row];
    EXPECT_EQ(std::max_element(z, z + 3) - z, predictions[row]) << row;
    loss += std::log(std::exp(z[0]) + std::exp(z[1]) + std::exp(z[2])) -
            z[static_cast<std::size_t>(rows->labels()[row])];
  }
  EXPECT_NEAR(objective->mean_loss(w), loss / 20, 1e-9);
  EXPECT_THAT(refusal([&] { dynamic_cast<RowOutputs&>(*objective).outputs(w, predictions); }),
              HasSubstr("expected 60 places for the outputs, got 20"));
}

TEST(Networks, FitNumbersToo) {
  const auto rows = made_up_rows(10, 6, 0, 5);
  Network net = Sequential(Linear(6, 4), Functional(torch::relu), Linear(4, 1));
  const NeuralOptions options{.input = {6}, .classes = 0, .threads = 1};
  const auto objective = make_neural(net, rows, options);
  const auto sum = clipped(*objective, trained_parameters(*net.module), all_rows(10), Abadi{0.1});
  const auto expected = clipped_sum_row_by_row(net, *rows, options, all_rows(10), Abadi{0.1});
  EXPECT_LT(distance(sum, expected), 1e-5 * length(expected));
}

TEST(Networks, WithOtherLayersGoRowByRowIfAskedTo) {
  const auto rows = made_up_rows(6, 6, 3, 6);
  Network net = Sequential(torch::nn::Linear(6, 5), Functional(torch::tanh), Linear(5, 3));
  EXPECT_THAT(refusal([&] { make_neural(net, rows, kSmall); }),
              AllOf(HasSubstr("module '0' is a Linear"), HasSubstr("use ration::nn::Linear")));
  NeuralOptions slow = kSmall;
  slow.row_by_row = true;
  const auto objective = make_neural(net, rows, slow);
  const auto sum = clipped(*objective, trained_parameters(*net.module), all_rows(6), AutoS{});
  const auto expected = clipped_sum_row_by_row(net, *rows, slow, all_rows(6), AutoS{});
  EXPECT_LT(distance(sum, expected), 1e-5 * length(expected));
}

// Always, or only while it is trained.
struct MixesRowsImpl : torch::nn::Module {
  explicit MixesRowsImpl(bool always) : linear(register_module("linear", Linear(6, 3))), always_(always) {}
  torch::Tensor forward(const torch::Tensor& x) {
    return linear(always_ || is_training() ? x - x.mean(0, true) : x);
  }
  Linear linear;
  bool always_;
};
TORCH_MODULE(MixesRows);

struct RemembersRowsImpl : torch::nn::Module {
  RemembersRowsImpl()
      : linear(register_module("linear", Linear(6, 3))), seen(register_buffer("seen", torch::zeros({6}))) {}
  torch::Tensor forward(const torch::Tensor& x) {
    if (is_training()) seen.add_(x.sum(0));
    return linear(x);
  }
  Linear linear;
  torch::Tensor seen;
};
TORCH_MODULE(RemembersRows);

struct ChangesItsInputImpl : torch::nn::Module {
  ChangesItsInputImpl()
      : one(register_module("one", Linear(6, 6))), two(register_module("two", Linear(6, 3))) {}
  torch::Tensor forward(const torch::Tensor& x) {
    torch::Tensor y = torch::tanh(one(x)).clone();
    const torch::Tensor z = two(y);
    y.mul_(2);
    return z;
  }
  Linear one, two;
};
TORCH_MODULE(ChangesItsInput);

struct SharesImpl : torch::nn::Module {
  SharesImpl() : one(register_module("one", Linear(6, 6))), two(register_module("two", Linear(6, 6))) {
    two->weight.set_data(one->weight.data());
    out = register_module("out", Linear(6, 3));
  }
  torch::Tensor forward(const torch::Tensor& x) { return out(two(one(x))); }
  Linear one, two, out{nullptr};
};
TORCH_MODULE(Shares);

// One layer's output goes nowhere, another is never called.
struct HasIdleLayersImpl : torch::nn::Module {
  HasIdleLayersImpl()
      : one(register_module("one", Linear(6, 3))),
        idle(register_module("idle", Linear(6, 3))),
        norm(register_module("norm", GroupNorm(1, 6))),
        never(register_module("never", Conv2d(1, 2, 3))) {}
  torch::Tensor forward(const torch::Tensor& x) {
    idle(norm(x.unsqueeze(2)).squeeze(2));
    return one(x);
  }
  Linear one, idle;
  GroupNorm norm;
  Conv2d never;
};
TORCH_MODULE(HasIdleLayers);

TEST(Networks, MayHaveLayersThatTheOutputsDoNotDependOn) {
  const auto rows = made_up_rows(5, 6, 3, 1);
  HasIdleLayers net;
  const auto objective = make_neural(net, rows, kSmall);
  const auto w = trained_parameters(*net);
  for (int twice = 0; twice < 2; ++twice) {
    const auto sum = clipped(*objective, w, all_rows(5), AutoS{});
    const auto expected = clipped_sum_row_by_row(net, *rows, kSmall, all_rows(5), AutoS{});
    EXPECT_LT(distance(sum, expected), 1e-5 * length(expected));
  }
}

TEST(Networks, ThatMixRowsAreRefused) {
  const auto rows = made_up_rows(6, 6, 3, 7);
  for (const bool row_by_row : {false, true}) {
    NeuralOptions options = kSmall;
    options.row_by_row = row_by_row;
    Network with_batch_norm = Sequential(Linear(6, 4), torch::nn::BatchNorm1d(4), Linear(4, 3));
    EXPECT_THAT(refusal([&] { make_neural(with_batch_norm, rows, options); }),
                AllOf(HasSubstr("module '1' is a BatchNorm1d"), HasSubstr("use ration::nn::GroupNorm")));
    EXPECT_THAT(refusal([&] { make_neural(RemembersRows(), rows, options); }), HasSubstr("a buffer changes"));
  }
  for (const bool always : {false, true}) {
    EXPECT_THAT(refusal([&] { make_neural(MixesRows(always), rows, kSmall); }),
                HasSubstr("change with the rows beside it"));
  }
  Network with_dropout = Sequential(Linear(6, 8), Dropout(0.5), Linear(8, 3));
  EXPECT_EQ(refusal([&] { make_neural(with_dropout, rows, kSmall); }), "");
  EXPECT_THAT(refusal([&] { make_neural(Shares(), rows, kSmall); }), HasSubstr("share a parameter"));
}

TEST(Networks, ThatChangeAnInputInPlaceAreRefused) {
  ChangesItsInput net;
  EXPECT_THAT(refusal([&] { make_neural(net, made_up_rows(6, 6, 3, 8), kSmall); }),
              HasSubstr("modified in place"));
}

TEST(Networks, SayWhatDoesNotFit) {
  const auto rows = made_up_rows(6, 6, 3, 9);
  Network net = small_net();
  NeuralOptions options = kSmall;
  options.input = {7};
  EXPECT_THAT(refusal([&] { make_neural(net, rows, options); }), HasSubstr("at least 7 columns, got 6"));
  options.input = {5};
  EXPECT_THAT(refusal([&] { make_neural(net, rows, options); }),
              HasSubstr("does not run on rows of this shape"));
  options = kSmall;
  options.classes = 2;
  EXPECT_THAT(refusal([&] { make_neural(net, rows, options); }),
              HasSubstr("expected outputs of shape 5 x 2"));
  const auto wrong = std::make_shared<const Rows>(Rows::dense(6, std::vector<double>(12), {0, 5}));
  EXPECT_THAT(refusal([&] { make_neural(net, wrong, kSmall); }), HasSubstr("row 1: expected the label"));
  const auto objective = make_neural(net, rows, kSmall);
  std::vector<double> sum(objective->parameters());
  EXPECT_THAT(
      refusal([&] { objective->clipped_gradient_sum(std::vector<double>(3), all_rows(1), AutoS{}, sum); }),
      HasSubstr("parameters, got 3"));
  EXPECT_THAT(refusal([&] { clipped(*objective, std::vector<double>(sum.size()), all_rows(7), AutoS{}); }),
              HasSubstr("rows below 6, got row 6"));
  freeze(*net.module);
  EXPECT_THAT(refusal([&] { make_neural(net, rows, kSmall); }), HasSubstr("parameters to train, got none"));
}

TEST(Positions, TakeTheCheapestWay) {
  EXPECT_EQ(cheapest_way({.rows = 512, .positions = 196, .inputs = 64, .outputs = 16}), Way::keep);
  EXPECT_EQ(cheapest_way({.rows = 300, .positions = 1, .inputs = 784, .outputs = 1000}), Way::gram);
  EXPECT_EQ(cheapest_way({.rows = 64, .positions = 16, .inputs = 2304, .outputs = 256}), Way::gram);
  EXPECT_EQ(cheapest_way({.rows = 64, .positions = 1024, .inputs = 576, .outputs = 256}, false), Way::direct);
  EXPECT_EQ(cheapest_way({.rows = 64, .positions = 64, .inputs = 128, .outputs = 512}), Way::keep);
  EXPECT_EQ(cheapest_way({.rows = 64, .positions = 64, .inputs = 128, .outputs = 512}, false), Way::gram);
}

TEST(Positions, AreKeptWhileThereIsRoom) {
  Tape tape(1, 100);
  EXPECT_TRUE(tape.may_keep(60));
  EXPECT_FALSE(tape.may_keep(41));
  EXPECT_TRUE(tape.may_keep(40));
  EXPECT_FALSE(tape.may_keep(1));
}

}  // namespace
}  // namespace ration::nn
