// Networks and rows made to get more than their bound out of a clipped sum.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <optional>

#include "base/distributions.h"
#include "objectives/neural/nets.h"
#include "ration/base/error.h"
#include "ration/objectives/neural/layers.h"
#include "ration/objectives/neural/neural.h"
#include "support/doubles.h"

namespace ration::nn {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;
using torch::Tensor;
using torch::nn::Functional;
using torch::nn::Sequential;

// The longest contribution of the first row in three calls one after the other. Nothing if the network is
// refused: at once, or by the time of the first call.
std::optional<double> longest_alone(Network net, const std::shared_ptr<const Rows>& rows,
                                    const NeuralOptions& options, const AnyClipRule& rule,
                                    std::string* reason = nullptr) {
  double longest = 0;
  const std::string why = refusal([&] {
    const auto objective = make_neural(net, rows, options);
    const auto w = trained_parameters(*net.module);
    for (int call = 0; call < 3; ++call)
      longest = std::max(longest, length(clipped(*objective, w, {.rows = {0}}, rule)));
  });
  if (reason != nullptr) *reason = why;
  if (!why.empty()) return std::nullopt;
  return longest;
}

// By how much the sum moves at most when one row leaves the batch. Nothing if the network is refused.
std::optional<double> most_moved(
    Network net, const std::shared_ptr<const Rows>& rows, const NeuralOptions& options,
    const AnyClipRule& rule, const std::function<void()>& before_each = [] {}) {
  double most = 0;
  const std::string why = refusal([&] {
    const auto objective = make_neural(net, rows, options);
    const auto w = trained_parameters(*net.module);
    before_each();
    const auto sum = clipped(*objective, w, all_rows(rows->count()), rule);
    for (std::size_t row = 0; row < rows->count(); ++row) {
      Batch others = all_rows(rows->count());
      others.rows.erase(others.rows.begin() + static_cast<std::ptrdiff_t>(row));
      before_each();
      most = std::max(most, distance(sum, clipped(*objective, w, others, rule)));
    }
  });
  if (!why.empty()) return std::nullopt;
  return most;
}

// ---- parameters that no site reports ----

struct ScaledLinearImpl : LinearImpl {
  ScaledLinearImpl() : LinearImpl(6, 3), scale(register_parameter("scale", torch::ones({3}))) {}
  Tensor forward(const Tensor& x) { return LinearImpl::forward(x) * scale; }
  Tensor scale;
};
TORCH_MODULE(ScaledLinear);

// Behind the tape's back.
struct DirectLinearImpl : LinearImpl {
  DirectLinearImpl() : LinearImpl(6, 3) {}
  Tensor forward(const Tensor& x) { return torch::linear(x, weight, bias); }
};
TORCH_MODULE(DirectLinear);

// Only for rows that no public number looks like.
struct SometimesDirectImpl : LinearImpl {
  SometimesDirectImpl() : LinearImpl(6, 3), scale(register_parameter("scale", torch::ones({3}))) {}
  Tensor forward(const Tensor& x) {
    const Tensor y = LinearImpl::forward(x);
    return x.max().item<float>() > 500 ? y * scale : y;
  }
  Tensor scale;
};
TORCH_MODULE(SometimesDirect);

const NeuralOptions kSmall{.input = {6}, .classes = 3, .threads = 1};

std::shared_ptr<const Rows> large_rows(std::size_t count, double scale) {
  const auto small = made_up_rows(count, 6, 3, 5);
  std::vector<double> values;
  for (std::size_t row = 0; row < count; ++row) {
    for (const double value : small->dense_row(row)) values.push_back(scale * value);
  }
  return std::make_shared<const Rows>(
      Rows::dense(6, std::move(values), {small->labels().begin(), small->labels().end()}));
}

TEST(HostileNetworks, WhatTrainsAndNoLayerReportsIsRefused) {
  const std::vector<std::pair<std::string, Network>> all{{"scale", ScaledLinear()},
                                                         {"weight", DirectLinear()},
                                                         {"weight", Sequential(DirectLinear(), Linear(3, 3))},
                                                         {"scale", SometimesDirect()}};
  for (const auto& [name, net] : all) {
    std::string reason;
    EXPECT_LE(longest_alone(net, large_rows(3, 2000), kSmall, Abadi{0.5}, &reason).value_or(0), 0.5);
    EXPECT_THAT(reason, HasSubstr(name));
  }
  NeuralOptions slow = kSmall;
  slow.row_by_row = true;
  EXPECT_LE(longest_alone(ScaledLinear(), large_rows(3, 2000), slow, Abadi{0.5}).value(), 0.5);
}

// A layer that is frozen when a run has begun must not leave its last gradient behind.
TEST(HostileNetworks, AGradientIsReleasedOnce) {
  Linear first(6, 6), last(6, 3);
  Network net = Sequential(first, Functional(torch::tanh), last);
  const auto rows = made_up_rows(4, 6, 3, 2);
  const auto objective = make_neural(net, rows, kSmall);
  const auto w = trained_parameters(*net.module);
  clipped(*objective, w, all_rows(4), AutoV{1});
  first->weight.requires_grad_(false);
  const auto sum = clipped(*objective, w, {.rows = {2}}, AutoV{1});
  EXPECT_LE(length(sum), 1);
  EXPECT_EQ(length({sum.begin(), sum.begin() + 36}), 0);
}

// ---- norms without a finite value ----

// Two equal inputs with gradients of opposite sign.
struct TwoPositionsImpl : torch::nn::Module {
  TwoPositionsImpl() : layer(register_module("layer", Linear(20, 20))) {}
  Tensor forward(const Tensor& x) {
    const Tensor y = layer(x);
    const Tensor mixed = (1e5 * (y.select(1, 0) - 0.5 * y.select(1, 1))).sum(1);
    return torch::stack({mixed, -mixed}, 1);
  }
  Linear layer;
};
TORCH_MODULE(TwoPositions);

TEST(HostileRows, AGramSumThatOverflowsContributesNothing) {
  TwoPositions net;
  {
    const torch::NoGradGuard no_gradient;
    net->layer->weight.fill_(0.01);
  }
  for (const double size : {1e10, 1e12, 1e13, 1e14, 1e16, 1e18}) {
    const auto row = std::make_shared<const Rows>(Rows::dense(40, std::vector<double>(40, size), {1}));
    for (const Kernels kernels : {Kernels::fastest, Kernels::portable}) {
      for (const AnyClipRule& rule : {AnyClipRule(Abadi{0.1}), AnyClipRule(AutoV{0.1}).per_layer()}) {
        const NeuralOptions options{.input = {2, 20}, .classes = 2, .threads = 1, .kernels = kernels};
        EXPECT_LE(longest_alone(net, row, options, rule).value(), 0.1) << size;
      }
    }
  }
}

// Of contributions as short as these, 32 bits hold a digit or two, and may hold too large ones.
TEST(HostileRows, UnderABoundThat32BitsCannotHoldNothingIsContributed) {
  const Network net = Sequential(Linear(torch::nn::LinearOptions(1000, 2).bias(false)));
  const NeuralOptions options{.input = {1000}, .classes = 2, .threads = 1};
  for (const double bound : {1e-44, 5e-44, 1e-43, 3e-43, 1e-42, 1e-40, 1e-36, 1e-30, 1e-21, 1e-20, 1e-6}) {
    for (const double size : {1e-7, 3e-8, 1e-8}) {
      const auto row = std::make_shared<const Rows>(Rows::dense(1000, std::vector<double>(1000, size), {1}));
      for (const AnyClipRule& rule :
           {AnyClipRule(Abadi{bound}), AnyClipRule(AutoV{bound}), AnyClipRule(AutoV{bound}).per_layer()}) {
        EXPECT_LE(longest_alone(net, row, options, rule).value(), bound) << size << " " << rule.name();
      }
    }
  }
}

// ---- the first dimension is the row ----

struct ReshapesImpl : torch::nn::Module {
  ReshapesImpl() : in(register_module("in", Linear(8, 4))), out(register_module("out", Linear(64 * 4, 3))) {}
  Tensor forward(const Tensor& x) { return out(in(x.reshape({-1, 8})).reshape({x.size(0), -1})); }
  Linear in, out;
};
TORCH_MODULE(Reshapes);

struct TokensFirstImpl : torch::nn::Module {
  explicit TokensFirstImpl(std::int64_t tokens)
      : in(register_module("in", Linear(6, 5))), out(register_module("out", Linear(5 * tokens, 3))) {}
  Tensor forward(const Tensor& x) {
    return out(torch::tanh(in(x.transpose(0, 1))).transpose(0, 1).flatten(1));
  }
  Linear in, out;
};
TORCH_MODULE(TokensFirst);

// The outputs are those of a network whose rows keep to themselves; what the layer sees is not.
struct FlipsRowsImpl : torch::nn::Module {
  FlipsRowsImpl() : in(register_module("in", Linear(6, 5))), out(register_module("out", Linear(5, 3))) {}
  Tensor forward(const Tensor& x) { return out(torch::tanh(in(x.flip(0)).flip(0))); }
  Linear in, out;
};
TORCH_MODULE(FlipsRows);

// The same in the backward pass alone.
struct FlipsGradientsImpl : torch::nn::Module {
  FlipsGradientsImpl() : in(register_module("in", Linear(6, 5))), out(register_module("out", Linear(5, 3))) {}
  Tensor forward(const Tensor& x) {
    Tensor y = in(x);
    if (y.requires_grad()) y.register_hook([](const Tensor& gradient) { return gradient.flip(0); });
    return out(torch::tanh(y));
  }
  Linear in, out;
};
TORCH_MODULE(FlipsGradients);

std::shared_ptr<const Rows> rows_of_different_length(std::size_t count, std::size_t columns) {
  const auto plain = made_up_rows(count, columns, 3, 9);
  std::vector<double> values;
  for (std::size_t row = 0; row < count; ++row) {
    for (const double value : plain->dense_row(row)) values.push_back(value * std::pow(4, row % 5));
  }
  return std::make_shared<const Rows>(
      Rows::dense(columns, std::move(values), {plain->labels().begin(), plain->labels().end()}));
}

TEST(HostileNetworks, RowsThatAreNotTheFirstDimensionAreRefused) {
  for (const std::int64_t tokens : {8, 2, 3, 4}) {
    const auto rows = rows_of_different_length(8, static_cast<std::size_t>(6 * tokens));
    EXPECT_LE(
        most_moved(TokensFirst(tokens), rows, {.input = {tokens, 6}, .classes = 3, .threads = 1}, AutoV{1})
            .value_or(0),
        1)
        << tokens;
  }
  EXPECT_LE(most_moved(Reshapes(), rows_of_different_length(8, 512),
                       {.input = {512}, .classes = 3, .threads = 1}, AutoV{1})
                .value_or(0),
            1);
}

TEST(HostileNetworks, LayersThatSeeRowsInAnotherOrderAreRefused) {
  const auto rows = rows_of_different_length(8, 6);
  EXPECT_LE(most_moved(FlipsRows(), rows, kSmall, AutoV{1}).value_or(0), 1);
  EXPECT_LE(most_moved(FlipsGradients(), rows, kSmall, AutoV{1}).value_or(0), 1);
}

// ---- randomness ----

TEST(HostileNetworks, MasksThatTorchDrawsAreRefused) {
  const auto rows = made_up_rows(100, 6, 3, 3);
  const auto same_seed = [] { torch::manual_seed(5); };
  const std::vector<Network> all{
      Sequential(Linear(6, 40), torch::nn::Dropout(0.5), Linear(40, 3)),
      Sequential(Linear(6, 40), Functional([](const Tensor& x) { return torch::dropout(x, 0.5, true); }),
                 Linear(40, 3)),
      Sequential(Linear(6, 40), torch::nn::RReLU(), Linear(40, 3)),
      // So rarely that no trial is likely to see it.
      Sequential(Linear(6, 40), Functional([](const Tensor& x) { return torch::dropout(x, 1e-9, true); }),
                 Linear(40, 3))};
  for (const bool row_by_row : {false, true}) {
    NeuralOptions options = kSmall;
    options.row_by_row = row_by_row;
    for (const Network& net : all)
      EXPECT_LE(most_moved(net, rows, options, AutoV{1}, same_seed).value_or(0), 1);
    EXPECT_THAT(refusal([&] { make_neural(all[0], rows, options); }), HasSubstr("ration::nn::Dropout"));
    EXPECT_THAT(refusal([&] { make_neural(all[3], rows, options); }), HasSubstr("random"));
  }
}

// ---- tokens ----

Network bag() {
  return Sequential(Embedding(5, 4), Functional([](const Tensor& x) { return x.mean(1); }), Linear(4, 3));
}

// Reads its tokens in a way of its own.
Network one_hot_bag() {
  return Sequential(Functional([](const Tensor& ids) {
                      return torch::one_hot(ids.to(torch::kLong), 5).to(torch::kFloat).mean(1);
                    }),
                    Linear(5, 3));
}

TEST(HostileRows, ATokenThatDoesNotExistMakesItsRowCountForNothing) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const double bad : {5.0, 7.0, -1.0, 1e30, -1e30, nan}) {
    for (const std::int64_t ids_below : {5, 0}) {
      for (const bool row_by_row : {false, true}) {
        SCOPED_TRACE(::testing::Message() << bad << " " << ids_below << " " << row_by_row);
        const auto rows =
            std::make_shared<const Rows>(Rows::dense(3, {1, 2, 3, 0, bad, 4, 2, 2, 1}, {0, 1, 2}));
        const NeuralOptions options{
            .input = {3}, .classes = 3, .ids_below = ids_below, .threads = 1, .row_by_row = row_by_row};
        for (const Network& net : {bag(), one_hot_bag()}) {
          if (ids_below == 0 && net.module->parameters().size() == 2) continue;  // its own affair
          const auto objective = make_neural(net, rows, options);
          const auto w = trained_parameters(*net.module);
          const auto all = clipped(*objective, w, all_rows(3), AutoV{1});
          EXPECT_LE(distance(all, clipped(*objective, w, {.rows = {0, 2}}, AutoV{1})), 1e-6);
          EXPECT_EQ(length(clipped(*objective, w, {.rows = {1}}, AutoV{1})), 0);
          const std::vector<Objective::Parameters> candidates{w};
          std::vector<double> loss(1, -1);
          objective->clipped_loss_sums(candidates, {.rows = {1}}, 0.5, loss);
          EXPECT_EQ(loss[0], 0);
          if (row_by_row) continue;
          EXPECT_EQ(objective->count_norms_at_most(w, {.rows = {1}}, 1e9), 0u);
        }
      }
    }
  }
}

// ---- positions that cancel ----

// sum_p c_p y_p, with c_p in the row's last columns: what is left of all positions may be nothing.
struct WeighedPositionsImpl : torch::nn::Module {
  explicit WeighedPositionsImpl(std::int64_t width) : layer(register_module("layer", Linear(width, 3))) {}
  Tensor forward(const Tensor& x) {
    const std::int64_t width = x.size(2) - 1;
    const Tensor y = layer(x.narrow(2, 0, width));
    const Tensor mixed = 100 * (y * x.narrow(2, width, 1)).sum(1);
    return torch::stack({mixed.sum(1), 0.5 * mixed.select(1, 1)}, 1);
  }
  Linear layer;
};
TORCH_MODULE(WeighedPositions);

struct WeighedTokensImpl : torch::nn::Module {
  WeighedTokensImpl() : table(register_module("table", Embedding(7, 4))) {}
  Tensor forward(const Tensor& x) {
    const Tensor mixed = 100 * (table(x.select(2, 0)) * x.narrow(2, 1, 1)).sum(1);
    return torch::stack({mixed.sum(1), 0.5 * mixed.select(1, 1)}, 1);
  }
  Embedding table;
};
TORCH_MODULE(WeighedTokens);

// The second half of the positions takes back what the first half gives, in another order, up to `rest`.
std::vector<double> cancelling_positions(std::size_t half, std::size_t width, double rest, bool tokens,
                                         RandomSource& random) {
  std::vector<std::vector<double>> positions;
  for (std::size_t p = 0; p < half; ++p) {
    std::vector<double> one(width + 1);
    for (double& value : one) value = standard_gaussian(random);
    if (tokens) one[0] = static_cast<double>(uniform_below(random, 2));
    positions.push_back(one);
  }
  for (std::size_t p = half; p-- > 0;) {
    positions.push_back(positions[(p * 7) % half]);
    positions.back().back() *= -(1 - rest);
  }
  std::vector<double> out;
  for (const auto& one : positions) out.insert(out.end(), one.begin(), one.end());
  return out;
}

TEST(HostileRows, PositionsThatCancelStayWithinTheBoundInEveryWay) {
  double longest = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    ration::testing::SeededRandom random(seed);
    const std::size_t half = std::vector<std::size_t>{1, 5, 11, 32}[seed % 4];
    const double rest = seed % 3 == 0 ? 0 : std::pow(10, -9 + static_cast<double>(seed % 7));
    const auto length_of = static_cast<std::int64_t>(2 * half);
    for (const bool tokens : {false, true}) {
      const std::int64_t width = tokens ? 1 : 3;
      const auto row = std::make_shared<const Rows>(Rows::dense(
          2 * half * static_cast<std::size_t>(width + 1),
          cancelling_positions(half, static_cast<std::size_t>(width), rest, tokens, random), {0}));
      const Network net = tokens ? Network(WeighedTokens()) : Network(WeighedPositions(width));
      for (const Kernels kernels : {Kernels::fastest, Kernels::portable}) {
        for (const std::int64_t most_kept : {std::int64_t{0}, Tape::kMostKept}) {
          const NeuralOptions options{.input = {length_of, width + 1},
                                      .classes = 2,
                                      .most_kept = most_kept,
                                      .threads = 1,
                                      .kernels = kernels};
          const double alone = longest_alone(net, row, options, AnyClipRule(AutoV{1}).per_layer()).value();
          longest = std::max(longest, alone);
          EXPECT_LE(alone, 1) << seed << " " << half << " " << tokens << " " << most_kept;
        }
      }
    }
  }
  RecordProperty("longest", std::to_string(longest));
}

// ---- the roundings of a sum ----

TEST(HostileRows, TheLongestChainCoversTheErrorOfLongSums) {
  constexpr double kBound = 0.1;  // not a sum of few powers of two
  for (const bool row_by_row : {false, true}) {
    const std::size_t count = row_by_row ? 20'000 : 200'000;
    const auto rows = std::make_shared<const Rows>(
        Rows::dense(1, std::vector<double>(count, 1.0), std::vector<double>(count, 1.0)));
    const Network net = Sequential(Linear(torch::nn::LinearOptions(1, 2).bias(false)));
    const auto objective =
        make_neural(net, rows, {.input = {1}, .classes = 2, .threads = 1, .row_by_row = row_by_row});
    const std::vector<double> w{3, -3};
    const double room =
        static_cast<double>(count) * kBound * static_cast<double>(objective->longest_chain(count)) * 0x1p-53;
    const std::vector<Objective::Parameters> candidates{w};
    std::vector<double> one(1), all(1);
    objective->clipped_loss_sums(candidates, {.rows = {0}}, kBound, one);
    objective->clipped_loss_sums(candidates, all_rows(count), kBound, all);
    EXPECT_LE(std::abs(all[0] - static_cast<long double>(one[0]) * count), room);
    if (!row_by_row) continue;  // sums of floats are not in the chain
    const auto alone = clipped(*objective, w, {.rows = {0}}, AutoV{kBound});
    const auto sum = clipped(*objective, w, all_rows(count), AutoV{kBound});
    EXPECT_LE(std::abs(sum[0] - static_cast<long double>(alone[0]) * count), room);
  }
}

TEST(HostileRows, TheLongestChainDoesNotFall) {
  for (const bool row_by_row : {false, true}) {
    const auto objective = make_neural(Sequential(Linear(6, 3)), made_up_rows(2, 6, 3, 1),
                                       {.input = {6}, .classes = 3, .threads = 1, .row_by_row = row_by_row});
    std::uint64_t before = 0;
    for (std::uint64_t rows = 0; rows < std::uint64_t{1} << 53; rows = rows * 3 / 2 + 1) {
      const std::uint64_t chain = objective->longest_chain(rows);
      EXPECT_GE(chain, before);
      EXPECT_GE(chain, std::min<std::uint64_t>(rows, 512));
      before = chain;
    }
  }
}

}  // namespace
}  // namespace ration::nn
