#include "methods/agd.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "methods/scripted_objective.h"
#include "support/small_table.h"

namespace ration::testing {
namespace {

using ::testing::HasSubstr;

constexpr double kNoiseless = 1e14;

AgdOptions noiseless() {
  return {.gradient_rho = kNoiseless, .minimum_epsilon = 1e7, .trusted = 1e300, .ridge = 0};
}

struct AgdDoor : ScriptedDoor {
  explicit AgdDoor(std::size_t parameters, std::size_t grants = 1'000'000)
      : ScriptedDoor(parameters, grants) {
    objective.start_counts = true;
  }
};

TEST(Agd, StepsAlongTheUnitGradientToTheBestCandidate) {
  AgdDoor door(2);
  door.objective.gradients = {{30, 40}};
  door.objective.best_points = {5};
  const auto method = make_agd(noiseless(), 2);
  ASSERT_TRUE(method->step(door.oracle));
  Vector candidates;
  for (int i = 0; i <= 20; ++i) candidates.push_back(2.0 * i / 20);
  EXPECT_EQ(door.objective.lines.at(0), candidates);
  expect_near(door.objective.directions.at(0), {0.6, 0.8});
  expect_near(weights_of(*method, 2), {-0.3, -0.4});
  EXPECT_EQ(method->report().learning_rate, 0.5);
  EXPECT_NEAR(method->report().gradient_norm, 12.5, 1e-5);
  EXPECT_EQ(door.objective.clip_bounds, Vector{3});
  EXPECT_EQ(door.objective.loss_bounds, Vector{3});
}

TEST(Agd, ZeroMeansAnotherGradientAveragedByPrecision) {
  AgdOptions options = noiseless();
  options.raise = 0.25;
  AgdDoor door(2);
  door.objective.gradients = {{4, 0}, {0, 20}, {8, 0}};
  door.objective.best_points = {0, 0, 20};
  const auto method = make_agd(options, 2);
  ASSERT_TRUE(method->step(door.oracle));
  // (1, 0) with precision 1 and (0, 5) with 1/4 are (.8, 1); with (2, 0) and 1.25/4 that is (1.04, .8).
  const double length = std::hypot(1.04, 0.8);
  expect_near(door.objective.directions.at(1), {0.8 / std::hypot(0.8, 1), 1 / std::hypot(0.8, 1)});
  expect_near(door.objective.directions.at(2), {1.04 / length, 0.8 / length});
  EXPECT_NEAR(method->save().at("gradient_rho").at(0) / kNoiseless, 1.25 * 1.25, 1e-12);
  const double whole = 3 / std::sqrt(2 * 1.25 * 1.25 * kNoiseless) / AgdDoor::kDivisor;
  EXPECT_NEAR(method->report().noise_stddev, whole, 1e-3 * whole);
}

// |g|^2 = 25 with a variance of v in each of two places: trusted up to 25 / (2 v).
TEST(Agd, ATrustedGradientsSmallestStepIsTakenInPlaceOfNone) {
  AgdOptions options = noiseless();
  const double stddev = 3 / std::sqrt(2 * kNoiseless) / AgdDoor::kDivisor;
  for (const double share : {0.99, 1.01}) {
    options.trusted = share * 25 / (2 * stddev * stddev);
    AgdDoor door(2);
    door.objective.gradients = {{12, 16}};
    door.objective.best_points = {0, 7};
    const auto method = make_agd(options, 2);
    ASSERT_TRUE(method->step(door.oracle));
    EXPECT_NEAR(method->report().learning_rate, share < 1 ? 0.1 : 0.7, 1e-12);
    EXPECT_NEAR(method->save().at("gradient_rho").at(0) / kNoiseless, share < 1 ? 1 : 1.1, 1e-12);
  }
}

TEST(Agd, EachQueryIsChargedOnce) {
  AgdDoor door(1);
  door.objective.gradients = {{4}};
  door.objective.best_points = {3};
  const auto method = make_agd(agd_for(0.6), 1);  // 0.005 per step
  ASSERT_TRUE(method->step(door.oracle));
  const Journal expected = {Event::gaussian(1 / 0.005).describe(), Event::bounded_range(0.005).describe()};
  EXPECT_EQ(door.journal, expected);
}

// From w = -2 with d = -1 + .5 w = -2 a step of 1 leads to 0, where the ridge's term is less by .5/2 * 4,
// times the divisor. A loss that grows by less than that is worth it.
TEST(Agd, TheRidgesTermIsPartOfTheChoice) {
  for (const double share : {0.9, 1.1}) {
    AgdOptions options = noiseless();
    options.ridge = 0.5;
    options.candidates = 2;
    options.first_step = 1;
    AgdDoor door(1);
    door.objective.gradients = {{-4}};
    door.objective.loss = [&](double step) { return step == 0 ? 0 : 4 * share; };
    const auto method = make_agd(options, 1);
    MethodState state = method->save();
    state["weights"] = {-2};
    method->restore(state);
    RecordingFilter few(3, door.journal);
    PrivateOracle oracle(door.objective, door.sampler, few, door.random);
    EXPECT_EQ(method->step(oracle), share < 1);
    expect_near(door.objective.directions.at(0), {-2});
  }
}

TEST(Agd, TheLargestStepFollowsWhatWasChosenAndMayComeBack) {
  AgdOptions options = noiseless();
  options.reset_every = 2;
  options.reset_factor = 1.5;
  AgdDoor door(1);
  door.objective.gradients = {{1}};
  door.objective.best_points = {10, 5, 20, 1, 20};
  const auto method = make_agd(options, 1);
  Vector largest;
  for (int i = 0; i < 8; ++i) {
    ASSERT_TRUE(method->step(door.oracle));
    largest.push_back(door.objective.lines.back().back());
  }
  EXPECT_EQ(largest, (Vector{2, 2, 1.5, 1.5, 2, 2, 2, 2}));
}

TEST(Agd, ARefusalEndsTheRunWhereverItComes) {
  for (const std::size_t grants : {0u, 1u, 2u, 3u}) {
    AgdDoor door(2, 2 + grants);
    door.objective.gradients = {{4, 0}};
    door.objective.best_points = {1, 0};
    const auto method = make_agd(noiseless(), 2);
    ASSERT_TRUE(method->step(door.oracle));
    const Vector before = weights_of(*method, 2);
    EXPECT_FALSE(method->step(door.oracle));
    EXPECT_EQ(weights_of(*method, 2), before);
    const std::size_t asked = door.journal.size();
    const auto resumed = make_agd(noiseless(), 2);
    resumed->restore(method->save());
    EXPECT_FALSE(method->step(door.oracle));
    EXPECT_FALSE(resumed->step(door.oracle));
    EXPECT_EQ(door.journal.size(), asked);
  }
}

TEST(Agd, AGradientOfLengthZeroIsNoError) {
  AgdDoor door(2);
  door.objective.gradients = {{0, 0}};
  door.objective.best_points = {7};
  const auto method = make_agd(noiseless(), 2);
  ASSERT_TRUE(method->step(door.oracle));
  for (const double weight : weights_of(*method, 2)) EXPECT_TRUE(std::isfinite(weight));
}

TEST(Agd, WrongOptionsAreRefused) {
  const auto refused = [](auto change) {
    AgdOptions options;
    change(options);
    return refusal([&] { make_agd(options, 1); });
  };
  EXPECT_EQ(refused([](AgdOptions&) {}), "");
  EXPECT_THAT(refused([](auto& o) { o.loss_bound = 0; }), HasSubstr("loss_bound"));
  EXPECT_THAT(refused([](auto& o) { o.gradient_rho = 0; }), HasSubstr("gradient_rho > 0"));
  EXPECT_THAT(refused([](auto& o) { o.minimum_epsilon = 0; }), HasSubstr("minimum_epsilon > 0"));
  EXPECT_THAT(refused([](auto& o) { o.candidates = 1; }), HasSubstr("2 <= candidates"));
  EXPECT_THAT(refused([](auto& o) { o.first_step = 0; }), HasSubstr("first_step > 0"));
  EXPECT_THAT(refused([](auto& o) { o.trusted = 0.5; }), HasSubstr("trusted >= 1"));
  EXPECT_THAT(refused([](auto& o) { o.reset_every = 0; }), HasSubstr("reset_every >= 1"));
  EXPECT_THAT(refused([](auto& o) { o.reset_factor = 0.5; }), HasSubstr("reset_factor >= 1"));
  EXPECT_THAT(refused([](auto& o) { o.raise = 0; }), HasSubstr("raise > 0"));
  EXPECT_THAT(refused([](auto& o) { o.ridge = -1; }), HasSubstr("ridge >= 0"));
  EXPECT_THAT(refused([](auto& o) { o.average.kind = Averaging::half; }), HasSubstr("got half"));
}

}  // namespace
}  // namespace ration::testing
