#include "meta/first_weights.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/public_random.h"

namespace ration::meta {
namespace {

using protector::Lanewise;

constexpr protector::LstmShape kShape{2, 20};

// What goes through is small, so that nothing bends; other units add a little of their own.
TEST(FirstWeights, ProjectorIsAMovingAverage) {
  for (const bool in_units_of_noise : {true, false}) {
    PublicRandom random(1);
    const FirstSteps first{in_units_of_noise, 0.8, 0.25};
    const std::vector<float> weights = first_projector(kShape, first, 30, random);
    Lanewise<float> inputs(2, 1), state(kShape.state(), 1), next(kShape.state(), 1), out(1, 1);
    Lanewise<float> quiet_state(kShape.state(), 1), quiet_next(kShape.state(), 1), quiet_out(1, 1);
    const Lanewise<float> nothing(2, 1);
    double average = 0;
    for (int t = 0; t < 20; ++t) {
      const double x = 0.2 * std::sin(t);
      inputs.at(in_units_of_noise ? 0 : 1, 0) = static_cast<float>(x);
      average = 0.8 * average + 0.2 * x;
      protector::lstm_forward<float>(kShape, weights, inputs, state, next, out);
      protector::lstm_forward<float>(kShape, weights, nothing, quiet_state, quiet_next, quiet_out);
      std::swap(state, next);
      std::swap(quiet_state, quiet_next);
      EXPECT_NEAR(out.at(0, 0) - quiet_out.at(0, 0), -0.25 * average, 0.004) << t;
      EXPECT_NEAR(quiet_out.at(0, 0), 0, 0.02);
    }
  }
}

TEST(FirstWeights, SchedulerSaysEven) {
  const protector::LstmShape shape{1, 20};
  PublicRandom random(1);
  const std::vector<float> weights = first_scheduler(shape, 30, random);
  Lanewise<float> inputs(1, 1), state(shape.state(), 1), next(shape.state(), 1), out(1, 1);
  inputs.at(0, 0) = 0.7f;
  protector::lstm_forward<float>(shape, weights, inputs, state, next, out);
  EXPECT_EQ(out.at(0, 0), 0);
}

TEST(FirstWeights, StepsOfAnotherSize) {
  PublicRandom one(1), two(1);
  std::vector<float> resized = first_projector(kShape, {true, 0.8, 0.25}, 30, one);
  resize_steps(kShape, 2, resized);
  EXPECT_EQ(resized, first_projector(kShape, {true, 0.8, 0.5}, 30, two));
}

}  // namespace
}  // namespace ration::meta
