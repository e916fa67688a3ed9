#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "objectives/neural/nets.h"
#include "objectives/neural/row_draws.h"
#include "support/doubles.h"

namespace ration::nn {
namespace {

using ration::testing::SeededRandom;
using torch::nn::Sequential;

const NeuralOptions kOptions{.input = {6}, .classes = 3, .rows_at_once = 10, .threads = 1};

Network with_dropout(double p) {
  return Sequential(Linear(6, 40), Dropout(p), Linear(40, 3));
}

// Under the same seed: nobody else's mask moves with a row, or with the parts that a batch is cut into.
TEST(DropoutLayer, DrawsForARowAndNotForAPlace) {
  const auto rows = made_up_rows(40, 6, 3, 3);
  for (const bool row_by_row : {false, true}) {
    NeuralOptions options = kOptions;
    options.row_by_row = row_by_row;
    const Network net = with_dropout(0.5);
    const auto w = trained_parameters(*net.module);
    const auto sum_of = [&](const Batch& batch) {
      SeededRandom masks(7);
      return clipped(*make_neural_drawing_from(masks, net, rows, options), w, batch, AutoV{1});
    };
    const auto sum = sum_of(all_rows(40));
    for (std::size_t row = 0; row < 40; ++row) {
      Batch others = all_rows(40);
      others.rows.erase(others.rows.begin() + static_cast<std::ptrdiff_t>(row));
      EXPECT_LE(distance(sum, sum_of(others)), 1 + 1e-6);
    }
  }
}

TEST(DropoutLayer, DrawsAnewForEveryQuery) {
  const auto rows = made_up_rows(4, 6, 3, 3);
  const Network net = with_dropout(0.5);
  const auto objective = make_neural(net, rows, kOptions);
  const auto w = trained_parameters(*net.module);
  EXPECT_NE(clipped(*objective, w, all_rows(4), AutoV{1}), clipped(*objective, w, all_rows(4), AutoV{1}));
  torch::manual_seed(1);
  const auto first = clipped(*objective, w, all_rows(4), AutoV{1});
  torch::manual_seed(1);
  EXPECT_NE(first, clipped(*objective, w, all_rows(4), AutoV{1}));
}

// Fails by chance with probability < 1e-9: 6.1 standard deviations of the share of zeros, of each of 4 rows.
TEST(DropoutLayer, KeepsTheShareItIsToldTo) {
  for (const double p : {0.1, 0.5, 0.9}) {
    Dropout layer(p);
    const torch::Tensor x = torch::ones({4, 100, 1000});
    const torch::Tensor y = layer(x);
    for (std::int64_t row = 0; row < 4; ++row) {
      const double zeros = (y[row] == 0).to(torch::kDouble).mean().item<double>();
      EXPECT_NEAR(zeros, p, 6.1 * std::sqrt(p * (1 - p) / 1e5));
    }
    EXPECT_NEAR(y.max().item<double>(), 1 / (1 - p), 1e-5);
    EXPECT_GT((y[0] != y[1]).sum().item<std::int64_t>(), 0);
    layer->eval();
    EXPECT_TRUE(torch::equal(layer(x), x));
  }
}

TEST(DropoutLayer, RefusesWhatIsNoProbability) {
  for (const double p : {-0.1, 1.0, 1.5, std::nan("")}) EXPECT_NE(refusal([&] { Dropout layer(p); }), "");
}

// Streams are told apart by row, by draw and by key.
TEST(DropoutLayer, NoTwoMasksAreTheSame) {
  SeededRandom random(3);
  KeyedBits bits(random), others(random);
  std::vector<std::vector<std::uint32_t>> all;
  for (KeyedBits* one : {&bits, &others}) {
    for (const std::uint64_t row : {0ULL, 1ULL, 1ULL << 40, ~0ULL}) {
      for (const std::uint32_t draw : {0U, 1U, 1U << 20}) {
        all.emplace_back(1000);
        one->fill(row, draw, all.back());
      }
    }
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      std::size_t same = 0;
      for (std::size_t k = 0; k < all[i].size(); ++k) same += all[i][k] == all[j][k] ? 1 : 0;
      EXPECT_LE(same, 2u);
    }
  }
  std::vector<std::uint32_t> again(1000);
  bits.fill(1, 1, again);
  EXPECT_EQ(again, all[4]);
}

}  // namespace
}  // namespace ration::nn
