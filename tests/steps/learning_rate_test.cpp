#include "steps/learning_rate.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ration/base/error.h"

namespace ration::testing {
namespace {

TEST(LearningRate, Constant) {
  const LearningRate rate{.base = 0.3};
  EXPECT_EQ(rate.at(1, 10), 0.3);
  EXPECT_EQ(rate.at(1'000'000, 0), 0.3);  // a run of unknown length
}

TEST(LearningRate, CosineFallsToZeroAfterTheLastStep) {
  const LearningRate rate{.base = 2, .shape = RateShape::cosine};
  EXPECT_EQ(rate.at(1, 8), 2);
  EXPECT_DOUBLE_EQ(rate.at(3, 8), 1 + std::sqrt(0.5));
  EXPECT_DOUBLE_EQ(rate.at(5, 8), 1);
  EXPECT_NEAR(rate.at(8, 8), 1 - std::cos(std::acos(-1.0) / 8), 1e-15);
  EXPECT_EQ(rate.at(9, 8), 0);
  EXPECT_EQ(rate.at(100, 8), 0);
  EXPECT_EQ(rate.at(1, 1), 2);
}

TEST(LearningRate, StepDropsAfterEachStretch) {
  const LearningRate rate{.base = 1, .shape = RateShape::step, .drop_every = 3, .drop_factor = 0.5};
  EXPECT_EQ(rate.at(1, 0), 1);
  EXPECT_EQ(rate.at(3, 0), 1);
  EXPECT_EQ(rate.at(4, 0), 0.5);
  EXPECT_EQ(rate.at(6, 0), 0.5);
  EXPECT_EQ(rate.at(7, 0), 0.25);
}

TEST(LearningRate, EveryShapeStartsAfterTheWarmUp) {
  for (const RateShape shape : {RateShape::constant, RateShape::cosine, RateShape::step}) {
    const LearningRate rate{.base = 1, .shape = shape, .warm_up = 3, .drop_every = 2, .drop_factor = 0.5};
    EXPECT_DOUBLE_EQ(rate.at(1, 11), 0.25);
    EXPECT_DOUBLE_EQ(rate.at(2, 11), 0.5);
    EXPECT_DOUBLE_EQ(rate.at(3, 11), 0.75);
    EXPECT_EQ(rate.at(4, 11), 1);
  }
  const LearningRate cosine{.base = 1, .shape = RateShape::cosine, .warm_up = 3};
  EXPECT_DOUBLE_EQ(cosine.at(8, 11), 0.5);
  EXPECT_GT(cosine.at(11, 11), 0);
  EXPECT_EQ(cosine.at(12, 11), 0);
  const LearningRate step{
      .base = 1, .shape = RateShape::step, .warm_up = 3, .drop_every = 2, .drop_factor = 0.5};
  EXPECT_EQ(step.at(5, 11), 1);
  EXPECT_EQ(step.at(6, 11), 0.5);
}

TEST(LearningRate, AWarmUpLongerThanTheRun) {
  const LearningRate rate{.base = 1, .shape = RateShape::cosine, .warm_up = 9};
  EXPECT_DOUBLE_EQ(rate.at(5, 5), 0.5);
  EXPECT_EQ(rate.at(10, 5), 0);
}

void expect_refused(const LearningRate& rate, std::int64_t step, std::int64_t total, const char* message) {
  try {
    rate.at(step, total);
    ADD_FAILURE() << "accepted; expected: " << message;
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(), message);
  }
}

TEST(LearningRate, RefusesWithTheInequality) {
  expect_refused({.base = 0}, 1, 1, "learning rate: expected base > 0, got base=0");
  expect_refused({.base = HUGE_VAL}, 1, 1, "learning rate: expected base > 0, got base=inf");
  expect_refused({.warm_up = -1}, 1, 1, "learning rate: expected warm_up >= 0, got warm_up=-1");
  expect_refused({}, 0, 1, "learning rate: expected step >= 1, got step=0");
  expect_refused({.shape = RateShape::cosine}, 1, 0, "learning rate: expected total >= 1, got total=0");
  expect_refused({.shape = RateShape::step}, 1, 1,
                 "learning rate: expected drop_every >= 1, got drop_every=0");
  expect_refused({.shape = RateShape::step, .drop_every = 1, .drop_factor = 1}, 1, 1,
                 "learning rate: expected 0 < drop_factor < 1, got drop_factor=1");
}

TEST(RateShape, NamesGoBothWays) {
  for (const RateShape shape : {RateShape::constant, RateShape::cosine, RateShape::step}) {
    EXPECT_EQ(named<RateShape>(to_string(shape)), shape);
  }
  EXPECT_EQ(to_string(RateShape::cosine), "cosine");
  EXPECT_THROW(named<RateShape>("linear"), InputError);
}

}  // namespace
}  // namespace ration::testing
