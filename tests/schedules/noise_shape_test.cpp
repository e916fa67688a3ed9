#include "schedules/noise_shape.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <random>

#include "ration/base/error.h"

namespace ration::testing {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pointwise;

// Sum of q_t s_t^2 for the shape, scaled such that the sum of 1 / s_t^2 is 1.
double damage(std::span<const double> influence, std::span<const double> shape) {
  double cost = 0;
  double weighted = 0;
  for (std::size_t t = 0; t < shape.size(); ++t) {
    cost += 1 / (shape[t] * shape[t]);
    weighted += influence[t] * shape[t] * shape[t];
  }
  return cost * weighted;
}

TEST(NoiseShape, Formulas) {
  EXPECT_THAT(relative_noise(UniformNoise{}, 3), ElementsAre(1, 1, 1));
  EXPECT_THAT(relative_noise(ExponentialNoise{.rate = 0.5}, 2), ElementsAre(std::exp(-0.5), std::exp(-1.0)));
  EXPECT_THAT(relative_noise(StepNoise{.every = 2, .factor = 0.5}, 5), ElementsAre(1, 0.5, 0.5, 0.25, 0.25));
  EXPECT_THAT(relative_noise(TimeNoise{.rate = 1}, 3), ElementsAre(1.0 / 2, 1.0 / 3, 1.0 / 4));
  EXPECT_THAT(relative_noise(PolynomialNoise{.end = 0.5, .power = 2}, 2), ElementsAre(0.5 * 0.25 + 0.5, 0.5));
}

// Variances proportional to 1 / sqrt(gamma^(T - t)).
TEST(NoiseShape, InfluenceIsTheBestForItsWeights) {
  constexpr double kGamma = 0.9;
  const std::vector<double> shape = relative_noise(InfluenceNoise{kGamma}, 20);
  std::vector<double> influence;
  for (int t = 1; t <= 20; ++t) influence.push_back(std::pow(kGamma, 20 - t));
  const std::vector<double> best = noise_for_influence(influence);
  for (std::size_t t = 0; t < shape.size(); ++t) {
    EXPECT_NEAR(shape[t] / shape[0], best[t] / best[0], 1e-12) << t;
  }
  EXPECT_LT(shape.back(), shape.front());
}

// [Hong22, Lemma 4.1]: the minimum is (sum of sqrt(q_t))^2, and no schedule of equal cost beats it.
TEST(NoiseShape, NoRandomScheduleBeatsTheLemma) {
  std::mt19937_64 random(7);
  std::lognormal_distribution<double> wild(0, 1.5);
  for (int problem = 0; problem < 10; ++problem) {
    std::vector<double> influence(1 + random() % 30);
    for (double& q : influence) q = wild(random);
    const double least = damage(influence, noise_for_influence(influence));
    double roots = 0;
    for (const double q : influence) roots += std::sqrt(q);
    EXPECT_NEAR(least / (roots * roots), 1, 1e-12);
    for (int trial = 0; trial < 1000; ++trial) {
      // Half of them close to the optimum, where a wrong optimum would show.
      std::vector<double> shape = noise_for_influence(influence);
      for (double& s : shape) s = trial % 2 == 0 ? wild(random) : s * std::pow(wild(random), 0.01);
      EXPECT_GE(damage(influence, shape), least * (1 - 1e-12));
    }
  }
}

// The influence of each step's noise in bias-corrected momentum on a quadratic, as the theorem's proof bounds
// it: rises with the turning point's formula, written out.
TEST(NoiseShape, MomentumFollowsTheTheorem) {
  constexpr double kGamma = 0.97;
  constexpr double kBeta = 0.9;
  constexpr int kSteps = 60;
  const auto turning = static_cast<int>(momentum_turning_point(kGamma, kBeta));
  EXPECT_GE(std::pow(kGamma, turning - 1), (1 - kBeta) / (1 - std::pow(kBeta, turning)));
  EXPECT_LT(std::pow(kGamma, turning), (1 - kBeta) / (1 - std::pow(kBeta, turning + 1)));
  std::vector<double> influence;
  for (int t = 1; t <= kSteps; ++t) {
    influence.push_back(t <= turning
                            ? 2 * std::pow(kGamma, kSteps + t - 1)
                            : std::pow(kGamma, 2 * (turning - 1)) *
                                  (std::pow(kGamma, kSteps + 1 - t) - std::pow(kBeta, 2 * (kSteps + 1 - t))));
  }
  const std::vector<double> shape = relative_noise(MomentumInfluenceNoise{kGamma, kBeta}, kSteps);
  const std::vector<double> best = noise_for_influence(influence);
  for (std::size_t t = 0; t < shape.size(); ++t)
    EXPECT_NEAR(shape[t] / shape[0], best[t] / best[0], 1e-9) << t;
}

TEST(NoiseShape, WithoutMomentumTheTurningPointIsTheFirstStep) {
  EXPECT_EQ(momentum_turning_point(0.97, 0), 1);
  EXPECT_GT(momentum_turning_point(0.999, 0.9), momentum_turning_point(0.97, 0.9));
}

TEST(NoiseShape, RefusesWhatBreaksAnInequality) {
  const auto refusal = [](const NoiseShape& shape, std::int64_t steps) -> std::string {
    try {
      relative_noise(shape, steps);
      return "";
    } catch (const InputError& error) {
      return error.what();
    }
  };
  EXPECT_THAT(refusal(UniformNoise{}, 0), HasSubstr("1 <= steps"));
  EXPECT_THAT(refusal(ExponentialNoise{-1}, 5), HasSubstr("rate >= 0, got rate=-1"));
  EXPECT_THAT(refusal(StepNoise{.every = 0}, 5), HasSubstr("every >= 1"));
  EXPECT_THAT(refusal(StepNoise{.every = 1, .factor = 0}, 5), HasSubstr("0 < factor <= 1"));
  EXPECT_THAT(refusal(PolynomialNoise{.end = 0}, 5), HasSubstr("0 < end <= 1"));
  EXPECT_THAT(refusal(InfluenceNoise{1}, 5), HasSubstr("0 < gamma < 1"));
  EXPECT_THAT(refusal(MomentumInfluenceNoise{0.5, 0.9}, 5), HasSubstr("beta^2 < 0.5"));
  EXPECT_THAT(refusal(ExponentialNoise{10}, 1000), HasSubstr("smallest over largest noise"));
  EXPECT_THROW(noise_for_influence(std::vector<double>{1, 0}), InputError);
}

}  // namespace
}  // namespace ration::testing
