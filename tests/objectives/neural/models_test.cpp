#include "ration/objectives/neural/models.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "objectives/neural/nets.h"
#include "ration/base/error.h"
#include "support/doubles.h"

namespace ration::nn {
namespace {

using ::testing::HasSubstr;

struct Case {
  NetworkSpec spec;
  std::size_t parameters;
};

const std::vector<std::size_t> kMnist{1, 28, 28};

std::vector<Case> cases() {
  return {
      {{"mlp:1000", {784}, 10}, 784 * 1000 + 1000 + 10010},
      {{"mlp:256,256:tanh", kMnist, 10}, 784 * 256 + 256 + 256 * 257 + 2570},
      {{"cnn:papernot", kMnist, 10}, 26010},
      {{"cnn:bls", kMnist, 10}, 156 + 2416 + 400 * 256 + 256 + 256 * 128 + 128 + 1290},
      {{"resnet9:8", {3, 32, 32}, 10}, 0},
      {{"transformer:1,16,2", {12}, 2, 100}, 0},
      {{"bag:16", {12}, 2, 100}, 1600 + 34},
  };
}

class NamedNetworks : public ::testing::TestWithParam<Case> {};

TEST_P(NamedNetworks, GiveTheClippedSum) {
  const NetworkSpec& spec = GetParam().spec;
  std::size_t columns = 1;
  NeuralOptions options{.input = {}, .classes = spec.classes, .threads = 1};
  for (const std::size_t size : spec.input) {
    columns *= size;
    options.input.push_back(static_cast<std::int64_t>(size));
  }
  options.ids_below = static_cast<std::int64_t>(spec.ids_below);
  const auto rows = made_up_rows(3, columns, spec.classes, 1, options.ids_below);
  Network net = make_network(spec);
  ration::testing::SeededRandom random(1);
  initialise(*net.module, random);
  const auto objective = make_neural(net, rows, options);
  if (GetParam().parameters > 0) EXPECT_EQ(objective->parameters(), GetParam().parameters);
  const std::vector<double> w = trained_parameters(*net.module);
  std::vector<double> sum(w.size());
  objective->clipped_gradient_sum(w, all_rows(3), AutoS{}, sum);
  const auto expected = clipped_sum_row_by_row(net, *rows, options, all_rows(3), AutoS{});
  EXPECT_LT(distance(sum, expected), 1e-5 * length(expected));
}

INSTANTIATE_TEST_SUITE_P(All, NamedNetworks, ::testing::ValuesIn(cases()), [](const auto& info) {
  std::string name = info.param.spec.name;
  for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return name;
});

TEST(NetworkNames, AreKnownByTheirForm) {
  for (const char* name : {"mlp:10", "mlp:10,20:sigmoid", "cnn:papernot", "cnn:bls", "cnn:bls-cifar",
                           "resnet9", "resnet9:32", "transformer:small", "transformer:2,64,4", "bag:32"}) {
    EXPECT_TRUE(all_networks().knows(name)) << name;
  }
  for (const char* name : {"", "mlp", "mlp:", "mlp:0", "mlp:10,", "mlp:10:cube", "mlp:10:relu:x", "cnn",
                           "cnn:x", "resnet9:x", "transformer", "transformer:2,64", "transformer:2,64,5",
                           "bag", "logistic", "mlp:99999999999999999999", "mlp:-3"}) {
    EXPECT_FALSE(all_networks().knows(name)) << name;
  }
}

TEST(NetworkNames, AskForTheRowsTheyNeed) {
  const auto refusal = [](const NetworkSpec& spec) -> std::string {
    try {
      make_network(spec);
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(refusal({"cnn:papernot", {20}, 2}),
              HasSubstr("cnn:papernot is for images of at least 16 x 16"));
  EXPECT_THAT(refusal({"transformer:small", {1, 28, 28}, 2}), HasSubstr("is for texts"));
  EXPECT_THAT(refusal({"cnn:lenet", {1, 28, 28}, 2}), HasSubstr("no network is called 'cnn:lenet'"));
}

TEST(NetworkStart, IsDrawnFromTheGivenSource) {
  const NetworkSpec spec{"cnn:papernot", kMnist, 10};
  ration::testing::SeededRandom one(1), same(1), other(2);
  const auto start = all_networks().start(spec, one);
  EXPECT_EQ(start, all_networks().start(spec, same));
  EXPECT_NE(start, all_networks().start(spec, other));
  for (std::size_t i = 0; i < 16 * 64; ++i) ASSERT_LE(std::abs(start[i]), 1.0 / 8);
}

TEST(ResNet9, HasTwoMillionParameters) {
  constexpr std::size_t w = 64;
  constexpr std::size_t kKernels =
      9 * (3 * w + 2 * w * w + 2 * 4 * w * w + 8 * w * w + 16 * w * w + 2 * 16 * w * w);
  constexpr std::size_t kBiasesAndNorms = 3 * (w + 2 * w + 2 * 2 * w + 4 * w + 4 * w + 2 * 4 * w);
  EXPECT_EQ(all_networks().parameters({"resnet9", {3, 32, 32}, 10}),
            kKernels + kBiasesAndNorms + 4 * w * 10 + 10);
}

}  // namespace
}  // namespace ration::nn
