// The noise of a long gradient, which is drawn in blocks and by several threads. Each check fails by chance
// with probability below 1e-9.
#include <gtest/gtest.h>

#include <cmath>

#include "methods/gradient_descent.h"
#include "oracle/long_gradient.h"
#include "support/statistics.h"

namespace ration::testing {
namespace {

using Vector = std::vector<double>;

constexpr std::size_t kBlock = PrivateOracle::Sample::kBlock;
constexpr std::size_t kLong = 795'010;
constexpr double kNoise = 1.5;

// The answer minus its exact mean, in units of the declared noise.
Vector noise_in_blocks(std::size_t threads, bool floats) {
  LongGradient door(kLong);
  door.objective.in_floats = floats;
  PrivateOracle& oracle = door.oracle(SecureRandom::for_this_thread(), threads);
  const GradientQuery query{.clip = Abadi{1}, .noise_multiplier = kNoise};
  const double stddev = oracle.gradient_stddev(query);
  EXPECT_NEAR(stddev, kNoise / LongGradient::kDivisor, 1e-4);
  Vector noise(kLong);
  door.answer(oracle, query, [&](std::size_t first, std::span<const double> mean) {
    for (std::size_t i = 0; i < mean.size(); ++i) {
      noise[first + i] = (mean[i] - door.objective.sum(first + i) / LongGradient::kDivisor) / stddev;
    }
  });
  return noise;
}

double product(std::span<const double> a, std::span<const double> b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

std::span<const double> block(const Vector& noise, std::size_t index) {
  return std::span(noise).subspan(index * kBlock, kBlock);
}

// The squares of a full block sum to 1024 +- 45; 9 times as far off, with probability below 1e-15 each.
bool every_block_has_its_noise(const Vector& noise) {
  for (std::size_t i = 0; i < noise.size() / kBlock; ++i) {
    const double squares = product(block(noise, i), block(noise, i));
    if (std::abs(squares - kBlock) > 9 * std::sqrt(2.0 * kBlock)) return false;
  }
  return true;
}

// Products of two blocks sum to 0 +- 32; 9 times as far off, with probability below 1e-17 each of 3e5 pairs.
bool no_two_blocks_are_alike(const Vector& noise) {
  for (std::size_t i = 0; i < noise.size() / kBlock; ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (std::abs(product(block(noise, i), block(noise, j))) > 9 * std::sqrt(1.0 * kBlock)) return false;
    }
  }
  return true;
}

Vector scaled(Vector noise, double factor) {
  for (double& value : noise) value *= factor;
  return noise;
}

class BlockNoise : public ::testing::TestWithParam<std::tuple<std::size_t, bool>> {};
INSTANTIATE_TEST_SUITE_P(ThreadsAndNumbers, BlockNoise,
                         ::testing::Combine(::testing::Values(1, 2), ::testing::Bool()));

TEST_P(BlockNoise, HasTheDeclaredScaleInEveryBlockAndIsNeverUsedTwice) {
  Vector noise = noise_in_blocks(std::get<0>(GetParam()), std::get<1>(GetParam()));
  EXPECT_TRUE(follows_normal(noise, 1));
  EXPECT_FALSE(follows_normal(scaled(noise, 0.97), 1));
  EXPECT_FALSE(follows_normal(scaled(noise, 1.03), 1));
  EXPECT_TRUE(every_block_has_its_noise(noise));
  EXPECT_TRUE(no_two_blocks_are_alike(noise));
  EXPECT_TRUE(uncorrelated(std::span(noise).first(kLong / 2), std::span(noise).last(kLong / 2)));

  // The checks can fail: one block of the last thread that has the noise of one of the first, or none.
  const std::span last = std::span(noise).subspan(700 * kBlock, kBlock);
  std::copy_n(noise.begin() + 3 * kBlock, kBlock, last.begin());
  EXPECT_FALSE(no_two_blocks_are_alike(noise));
  std::fill(last.begin(), last.end(), 0.0);
  EXPECT_FALSE(every_block_has_its_noise(noise));
}

// From w = 0, one step of size 1 without a sum leaves minus the noise.
TEST(BlockNoise, ReachesTheWeights) {
  LongGradient door(kLong);
  PrivateOracle& oracle = door.oracle(SecureRandom::for_this_thread(), 2);
  const auto method =
      make_gradient_descent({.clip = Abadi{1}, .noise = {kNoise}, .learning_rate = {.base = 1}}, kLong);
  ASSERT_TRUE(method->step(oracle));
  Vector noise(kLong);
  method->weights(noise);
  const double stddev = method->report().noise_stddev;
  double squares = 0;
  for (std::size_t i = 0; i < kLong; ++i) {
    squares += noise[i] * noise[i];
    noise[i] = (noise[i] + door.objective.sum(i) / LongGradient::kDivisor) / stddev;
  }
  EXPECT_NEAR(method->report().gradient_norm, std::sqrt(squares), 1e-9 * std::sqrt(squares));
  EXPECT_TRUE(follows_normal(noise, 1));
  EXPECT_FALSE(follows_normal(scaled(noise, 0.97), 1));
  EXPECT_FALSE(follows_normal(scaled(noise, 1.03), 1));
  EXPECT_TRUE(every_block_has_its_noise(noise));
  EXPECT_TRUE(no_two_blocks_are_alike(noise));
}

}  // namespace
}  // namespace ration::testing
