// The noise of a network's released gradient: the oracle's, of the scale that its event claims, and not
// torch's.
#include <gtest/gtest.h>

#include "objectives/neural/nets.h"
#include "ration/oracle/oracle.h"
#include "ration/sampling/full.h"
#include "support/doubles.h"
#include "support/recording.h"
#include "support/statistics.h"

namespace ration::nn {
namespace {

using ration::testing::follows_normal;
using ration::testing::GenerousFilter;

TEST(NetworkNoise, HasTheScaleOfItsEvent) {
  constexpr std::size_t kRows = 6;
  const auto rows = made_up_rows(kRows, 20, 3, 1);
  Network net = torch::nn::Sequential(Linear(20, 60), torch::nn::Functional(torch::tanh), Linear(60, 3));
  const auto objective = make_neural(net, rows, {.input = {20}, .classes = 3, .threads = 1});
  const FullSampler sampler({.rows = kRows, .declared_rows = 10}, Relation::add_remove);
  GenerousFilter filter;
  ration::testing::SeededRandom random(5);
  PrivateOracle oracle(*objective, sampler, filter, random);
  const std::vector<double> w = trained_parameters(*net.module);
  constexpr double kBound = 2, kNoise = 1.5;
  const GradientQuery query{.clip = AutoS{.R = kBound}, .noise_multiplier = kNoise};
  std::vector<double> exact(w.size()), mean(w.size()), noise;
  objective->clipped_gradient_sum(w, all_rows(kRows), query.clip, exact);
  for (int release = 0; release < 120; ++release) {
    ASSERT_TRUE(oracle.gradient(w, query, mean));
    for (std::size_t i = 0; i < w.size(); ++i) noise.push_back(mean[i] * sampler.divisor() - exact[i]);
  }
  EXPECT_TRUE(follows_normal(noise, kBound * kNoise));
  EXPECT_FALSE(follows_normal(noise, 0.95 * kBound * kNoise));
  EXPECT_FALSE(follows_normal(noise, 1.05 * kBound * kNoise));
  // No two releases share their noise.
  const std::span<const double> all(noise);
  std::vector<double> first(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(w.size())),
      second(all.begin() + static_cast<std::ptrdiff_t>(w.size()),
             all.begin() + 2 * static_cast<std::ptrdiff_t>(w.size()));
  for (double& value : first) value /= kBound * kNoise;
  for (double& value : second) value /= kBound * kNoise;
  EXPECT_TRUE(ration::testing::uncorrelated(first, second));
}

// Torch's generator may be seeded as one likes: the noise does not change with it.
TEST(NetworkNoise, DoesNotComeFromTorch) {
  const auto rows = made_up_rows(4, 5, 2, 1);
  Network net = torch::nn::Sequential(Linear(5, 2));
  const auto objective = make_neural(net, rows, {.input = {5}, .classes = 2, .threads = 1});
  const FullSampler sampler({.rows = 4, .declared_rows = 4}, Relation::add_remove);
  const std::vector<double> w = trained_parameters(*net.module);
  const auto release = [&](std::uint64_t torch_seed, std::uint64_t seed) {
    torch::manual_seed(torch_seed);
    GenerousFilter filter;
    ration::testing::SeededRandom random(seed);
    PrivateOracle oracle(*objective, sampler, filter, random);
    std::vector<double> mean(w.size());
    EXPECT_TRUE(oracle.gradient(w, {.clip = AutoS{}, .noise_multiplier = 1}, mean));
    return mean;
  };
  EXPECT_EQ(release(1, 7), release(2, 7));
  EXPECT_NE(release(1, 7), release(1, 8));
}

}  // namespace
}  // namespace ration::nn
