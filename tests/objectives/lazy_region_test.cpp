// Where clipped gradients balance although the optimum is far: intervals on which abadi and auto-v stand
// still and auto-s does not. [Bu23, App. F]
#include <gtest/gtest.h>

#include "objectives/glm/losses.h"
#include "objectives/tables.h"

namespace ration::testing {
namespace {

// The sum of clipped gradients per row and per unit of R, so that 1 means that all rows pull the same way.
double pull(Objective& objective, double theta, const AnyClipRule& rule) {
  const double rows = static_cast<double>(objective.rows());
  return gradient_sum(objective, std::vector{theta}, all(objective.rows()), rule)[0] / (rule.bound() * rows);
}

// Two halves at +-4, the mean to be estimated from a constant column: min (theta - x_i)^2 / 2. Points within
// 1 of their centre only, so that the halves do not overlap and "zero" is zero exactly; [Bu23, F.2] has
// normal tails.
class MixtureMean : public ::testing::Test {
 protected:
  std::unique_ptr<Objective> objective() {
    std::mt19937_64 random(4);
    std::vector<double> targets;
    for (int i = 0; i < 1000; ++i) {
      const double deviation = std::uniform_real_distribution<double>(-1, 1)(random);
      targets.insert(targets.end(), {4 + deviation, -4 + deviation});
    }
    return glm(GlmLoss::squared, store(Storage::dense, 1, std::vector<double>(targets.size(), 1.0), targets));
  }
};

TEST_F(MixtureMean, AbadiAndAutoVStandStillBetweenTheHalves) {
  const auto mixture = objective();
  for (const double theta : {-1.0, -0.5, 0.5, 1.0, 2.0}) {
    EXPECT_NEAR(pull(*mixture, theta, Abadi{0.01}), 0, 1e-12) << theta;
    EXPECT_NEAR(pull(*mixture, theta, AutoV{0.01}), 0, 1e-12) << theta;
  }
}

TEST_F(MixtureMean, AutoSPullsTowardsTheOptimum) {
  const auto mixture = objective();
  const AutoS rule{.R = 0.01, .gamma = 0.1};
  EXPECT_GT(pull(*mixture, 0.5, rule), 1e-3);
  EXPECT_GT(pull(*mixture, 1, rule), pull(*mixture, 0.5, rule));
  EXPECT_LT(pull(*mixture, -0.5, rule), -1e-3);
  EXPECT_NEAR(pull(*mixture, 0, rule), 0, 3e-4);
}

TEST_F(MixtureMean, OutsideAllOfThemMove) {
  const auto mixture = objective();
  for (const AnyClipRule& rule :
       {AnyClipRule(Abadi{0.01}), AnyClipRule(AutoV{0.01}), AnyClipRule(AutoS{0.01, 0.1})}) {
    EXPECT_GT(pull(*mixture, 6, rule), 0.9);
  }
}

// The intercept of a logistic model with a fixed weight 1 on x ~ N(y, 1), as many y = 1 as y = 0 [Bu23, F.1].
// The weight of x is no parameter there, so the slopes are those of z = x + theta and the features the
// constant 1.
class Intercept : public ::testing::Test {
 protected:
  double pull_at(double theta, const AnyClipRule& rule) {
    double sum = 0;
    for (int i = 0; i < 10'000; ++i) sum += contribution(1, theta, rule) + contribution(0, theta, rule);
    return sum / (rule.bound() * 20'000);
  }

 private:
  double contribution(double label, double theta, const AnyClipRule& rule) {
    const double x = std::normal_distribution<double>(2 * label - 1, 1)(random_);
    const double slope = LogisticLoss::slope(x + theta, label);
    return slope * rule.visit([&](const auto& chosen) { return clip_factor(chosen, std::abs(slope)); });
  }
  std::mt19937_64 random_{5};
};

TEST_F(Intercept, AutoVStandsStillEverywhere) {
  for (const double theta : {-5.0, -2.0, 1.0, 3.0, 5.0})
    EXPECT_NEAR(pull_at(theta, AutoV{0.01}), 0, 1e-12) << theta;
}

// A row is left as it is only once its slope is below R = .01: its margin above 4.6.
TEST_F(Intercept, AbadiStandsAlmostStillOnAnInterval) {
  for (const double theta : {-1.0, 0.0, 1.0}) EXPECT_NEAR(pull_at(theta, Abadi{0.01}), 0, 5e-3) << theta;
  EXPECT_GT(pull_at(4, Abadi{0.01}), 0.1);
}

TEST_F(Intercept, AutoSPullsFurther) {
  const AutoS rule{.R = 0.01, .gamma = 0.01};
  EXPECT_GT(pull_at(1, rule), 0.01);
  EXPECT_LT(pull_at(-1, rule), -0.01);
  EXPECT_GT(std::abs(pull_at(1, rule)), 10 * std::abs(pull_at(1, Abadi{0.01})));
}

}  // namespace
}  // namespace ration::testing
