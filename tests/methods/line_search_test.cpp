#include "methods/line_search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "methods/scripted_objective.h"
#include "methods/search_noise.h"
#include "support/small_table.h"

namespace ration::testing {
namespace {

using ::testing::HasSubstr;

constexpr double kNoiseless = 1e14;
constexpr double kRightAngle = std::numbers::pi / 2;

LineSearchOptions noiseless() {
  LineSearchOptions options;
  options.gradient_rho = kNoiseless;
  options.search = LaplaceSearch::with_epsilon(1e7);
  options.ridge = 0;
  options.trusted = 1e300;
  return options;
}

double number(const Method& method, const std::string& name, std::size_t place = 0) {
  return method.save().at(name).at(place);
}

double rho_over_start(const Method& method) {
  return number(method, "gradient_rho") / kNoiseless;
}

// The search's budget over what it was.
double search_over_start(const Method& method) {
  return number(method, "search", 0) / LaplaceSearch::with_epsilon(1e7).threshold_epsilon;
}

// --- candidates and margins

TEST(LineSearch, CandidatesShrinkFromTheFirstStep) {
  LineSearchOptions options = noiseless();
  options.first_step = 3;
  options.shrink = 0.5;
  options.candidates = 4;
  ScriptedDoor door(1);
  door.objective.gradients = {{4}};
  door.objective.best_points = {2};
  const auto method = make_line_search_descent(options, 1);
  ASSERT_TRUE(method->step(door.oracle));
  EXPECT_EQ(door.objective.lines.at(0), (Vector{0, 3, 1.5, 0.75, 0.375}));
  expect_near(door.objective.directions.at(0), {1});
  EXPECT_EQ(method->report().learning_rate, 0.75);
  EXPECT_EQ(method->report().step, 1);
  EXPECT_NEAR(method->report().gradient_norm, 1, 1e-5);
  expect_near(weights_of(*method, 1), {-0.75});
}

// F(w) - F(w - eta g) = divisor (decrease eta |g|^2) is enough, and a little less is not.
TEST(LineSearch, TheMarginIsOnTheScaleOfTheSums) {
  for (const double ridge : {0.0, 0.5}) {
    for (const double share : {0.99, 1.01}) {
      LineSearchOptions options = noiseless();
      options.first_step = 1;
      options.decrease = 0.25;
      options.ridge = ridge;
      options.candidates = 1;
      options.growth = NeverRaise{};
      ScriptedDoor door(2);
      // The first step moves w to (-3, -4) / 4; the second one is looked at.
      door.objective.gradients = {{3, 4}, {-8, 4}};
      door.objective.best_points = {0};
      const auto method = make_line_search_descent(options, 2);
      ASSERT_TRUE(method->step(door.oracle));
      const Vector w = {-0.75, -1};
      const Vector g = {-2 + ridge * w[0], 1 + ridge * w[1]};
      const double squared = g[0] * g[0] + g[1] * g[1];
      const auto ridge_at = [&](double step) {
        return ridge / 2 * (std::pow(w[0] - step * g[0], 2) + std::pow(w[1] - step * g[1], 2));
      };
      const double enough = 4 * (0.25 * squared + ridge_at(1) - ridge_at(0));
      door.objective.loss = [&](double step) { return step == 0 ? 10 + enough * share : 10; };
      ASSERT_TRUE(method->step(door.oracle));
      expect_near(door.objective.directions.back(), g);
      EXPECT_EQ(method->report().learning_rate, share > 1 ? 1 : 0.8) << ridge;
    }
  }
}

TEST(LineSearch, WithoutGrowthTheStepAfterTheLastIsTaken) {
  LineSearchOptions options = noiseless();
  options.growth = NeverRaise{};
  options.first_step = 8;
  options.shrink = 0.5;
  options.candidates = 3;
  ScriptedDoor door(1);
  door.objective.gradients = {{4}};
  door.objective.best_points = {std::nullopt};
  const auto method = make_line_search_descent(options, 1);
  ASSERT_TRUE(method->step(door.oracle));
  EXPECT_EQ(method->report().learning_rate, 1);
  EXPECT_EQ(rho_over_start(*method), 1);
}

// |g|^2 = 25 with a variance of v in each of two places: trusted up to 25 / (2 v).
TEST(LineSearch, ATrustedGradientIsNotToBlame) {
  const double stddev = 3 / std::sqrt(2 * kNoiseless) / ScriptedDoor::kDivisor;
  for (const bool full : {false, true}) {
    for (const double share : {0.99, 1.01}) {
      LineSearchOptions options = noiseless();
      if (full) options.growth = RaiseGradient{};
      options.first_step = 1;
      options.shrink = 0.5;
      options.candidates = 2;
      options.trusted = share * 25 / (2 * stddev * stddev);
      ScriptedDoor door(2);
      door.objective.gradients = {{12, 16}};
      door.objective.best_points = {std::nullopt, 1};
      const auto method = make_line_search_descent(options, 2);
      ASSERT_TRUE(method->step(door.oracle));
      EXPECT_EQ(method->report().learning_rate, share < 1 ? 0.25 : 0.125);
      EXPECT_EQ(door.objective.lines.size(), share < 1 ? 1u : 2u);
      if (share < 1) EXPECT_EQ(rho_over_start(*method), 1);
    }
  }
}

TEST(LineSearch, ASecondSearchGoesOnBelowTheFirst) {
  LineSearchOptions options = noiseless();
  options.first_step = 1;
  options.shrink = 0.5;
  options.candidates = 2;
  for (const bool full : {false, true}) {
    if (full) options.growth = RaiseGradient{};
    ScriptedDoor door(1);
    door.objective.gradients = {{1}};
    door.objective.best_points = {std::nullopt, 1, 0};
    const auto method = make_line_search_descent(options, 1);
    ASSERT_TRUE(method->step(door.oracle));
    EXPECT_EQ(method->report().learning_rate, 0.125);
    ASSERT_TRUE(method->step(door.oracle));
    EXPECT_EQ(door.objective.lines, (std::vector<Vector>{{0, 1, 0.5}, {0, 0.25, 0.125}, {0, 1, 0.5}}));
  }
}

TEST(LineSearch, TheFirstStepFollowsWhatWasChosen) {
  LineSearchOptions options = noiseless();
  options.first_step = 1;
  options.shrink = 0.5;
  options.candidates = 5;
  options.reset_every = 3;
  ScriptedDoor door(1);
  door.objective.gradients = {{1}};
  door.objective.best_points = {2, 1, 4, 0, 0, 0, 0};
  const auto method = make_line_search_descent(options, 1);
  Vector firsts;
  for (int i = 0; i < 7; ++i) {
    ASSERT_TRUE(method->step(door.oracle));
    firsts.push_back(door.objective.lines.back()[1]);
  }
  // 1.2 times a half; then 1.2 times that, but never above what it was.
  EXPECT_EQ(firsts, (Vector{1, 1, 1, 0.6, 0.6, 0.6, 0.6}));
}

// --- CHEB

struct AfterOneFailure {
  std::unique_ptr<Method> method;
  std::vector<Vector> directions;
};

AfterOneFailure one_failure(const Vector& first, const Vector& second,
                            LineSearchOptions options = noiseless()) {
  ScriptedDoor door(2);
  door.objective.gradients = {first, second};
  door.objective.best_points = {std::nullopt, 0};
  AfterOneFailure result{make_line_search_descent(options, 2), {}};
  EXPECT_TRUE(result.method->step(door.oracle));
  EXPECT_EQ(door.journal.size(), 4u);  // gradient, search, gradient, search: nothing else is charged
  result.directions = door.objective.directions;
  return result;
}

TEST(CheckAngles, GradientsThatDisagreeRaiseTheGradientsBudget) {
  const auto [method, directions] = one_failure({4, 0}, {-1, 4});
  EXPECT_DOUBLE_EQ(rho_over_start(*method), 1.3);
  EXPECT_EQ(search_over_start(*method), 1);
  expect_near(directions.at(1), {(4 - 1) / 8.0, 4 / 8.0});
}

TEST(CheckAngles, GradientsThatAgreeRaiseTheSearchsBudget) {
  const auto [method, directions] = one_failure({4, 0}, {4, 2});
  EXPECT_EQ(rho_over_start(*method), 1);
  EXPECT_DOUBLE_EQ(search_over_start(*method), 1.3);
  EXPECT_DOUBLE_EQ(number(*method, "search", 1), 1.3e7 / 4);
  expect_near(directions.at(1), {1, 0.25});
}

TEST(CheckAngles, InBetweenNothingIsRaised) {
  const auto [method, directions] = one_failure({4, 0}, {4, 5});  // 51 degrees
  EXPECT_EQ(rho_over_start(*method), 1);
  EXPECT_EQ(search_over_start(*method), 1);
  expect_near(directions.at(1), {1, 0.625});
}

TEST(CheckAngles, AGaussianSearchIsRaisedByItsRho) {
  LineSearchOptions options = noiseless();
  options.search = GaussianSearch{.threshold_noise = 1e-6, .query_noise = 2e-6};
  const auto [method, directions] = one_failure({4, 0}, {4, 2}, options);
  EXPECT_DOUBLE_EQ(number(*method, "search", 0), 1e-6 / std::sqrt(1.3));
  EXPECT_DOUBLE_EQ(number(*method, "search", 1), 2e-6 / std::sqrt(1.3));
}

TEST(CheckAngles, TheMeanAngleMovesWithEachStepButTheFirst) {
  ScriptedDoor door(2);
  door.objective.gradients = {{4, 0}, {0, 4}, {4, 4}, {4, 4}};
  door.objective.best_points = {0};
  const auto method = make_line_search_descent(noiseless(), 2);
  ASSERT_TRUE(method->step(door.oracle));
  EXPECT_EQ(number(*method, "mean_angle"), kRightAngle);
  ASSERT_TRUE(method->step(door.oracle));
  EXPECT_NEAR(number(*method, "mean_angle"), kRightAngle, 1e-5);
  ASSERT_TRUE(method->step(door.oracle));
  double mean = 0.8 * kRightAngle + 0.2 * kRightAngle / 2;
  EXPECT_NEAR(number(*method, "mean_angle"), mean, 1e-5);
  ASSERT_TRUE(method->step(door.oracle));
  EXPECT_NEAR(number(*method, "mean_angle"), 0.8 * mean, 1e-3);
}

// With a mean angle of less than a right one, an angle that was in between is wide.
TEST(CheckAngles, TheLimitsAreMultiplesOfTheMeanAngle) {
  LineSearchOptions options = noiseless();
  options.growth = CheckAngles{.memory = 0};  // the mean is the last angle
  for (const double angle : {0.45, 0.55, 1.05, 1.15}) {
    const double mean = kRightAngle / 2;
    ScriptedDoor door(2);
    const Vector third = {4 * std::cos(mean * angle), 4 * std::sin(mean * angle)};
    door.objective.gradients = {{4, 4}, {4, 0}, {4, 0}, third};
    door.objective.best_points = {0, 0, std::nullopt, 0};
    const auto method = make_line_search_descent(options, 2);
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(method->step(door.oracle));
    EXPECT_DOUBLE_EQ(rho_over_start(*method), angle > 1.1 ? 1.3 : 1) << angle;
    EXPECT_DOUBLE_EQ(search_over_start(*method), angle < 0.5 ? 1.3 : 1) << angle;
  }
}

TEST(CheckAngles, TheNoiseOfTheAverageIsReported) {
  const auto [method, directions] = one_failure({4, 0}, {4, 2});
  const double one = 3 / std::sqrt(2 * kNoiseless) / ScriptedDoor::kDivisor;
  EXPECT_NEAR(method->report().noise_stddev, one / std::sqrt(2.0), 1e-3 * one);
}

// --- clipping that decays

TEST(LineSearchDecay, BothBoundsFallOncePerStepThatRaisedTheGradientsBudget) {
  LineSearchOptions options = noiseless();
  options.decay = BoundDecay{.zeta = 0.25};
  ScriptedDoor door(2);
  door.objective.gradients = {{4, 0}, {-4, 0}, {4, 1}, {-8, 0}, {4, 0}, {4, 1}, {4, 0}};
  door.objective.best_points = {std::nullopt, std::nullopt, std::nullopt, 0, std::nullopt, 0, 0};
  const auto method = make_line_search_descent(options, 2);
  ASSERT_TRUE(method->step(door.oracle));  // raised at least twice
  EXPECT_GT(rho_over_start(*method), 1.5);
  EXPECT_DOUBLE_EQ(number(*method, "clip_bound"), 3 * 0.75);
  EXPECT_DOUBLE_EQ(number(*method, "loss_bound"), 0.75);
  EXPECT_EQ(door.objective.clip_bounds, Vector(4, 3.0));
  EXPECT_EQ(door.objective.loss_bounds, Vector(4, 1.0));
  const double rho = rho_over_start(*method);
  ASSERT_TRUE(method->step(door.oracle));  // raised the search's budget only
  EXPECT_EQ(rho_over_start(*method), rho);
  EXPECT_GT(search_over_start(*method), 1);
  EXPECT_DOUBLE_EQ(number(*method, "clip_bound"), 3 * 0.75);
  EXPECT_EQ(door.objective.clip_bounds.back(), 3 * 0.75);
  EXPECT_EQ(door.objective.loss_bounds.back(), 0.75);
}

TEST(LineSearchDecay, IsOffUnlessAskedFor) {
  const auto [method, directions] = one_failure({4, 0}, {-4, 1});
  EXPECT_DOUBLE_EQ(rho_over_start(*method), 1.3);
  EXPECT_EQ(number(*method, "clip_bound"), 3);
  EXPECT_EQ(number(*method, "loss_bound"), 1);
}

// --- DP-BLGD

TEST(RaiseGradient, TheDifferenceIsDrawnAndAveragedByPrecision) {
  LineSearchOptions options = noiseless();
  options.growth = RaiseGradient{.raise = 0.25};
  ScriptedDoor door(2);
  door.objective.gradients = {{4, 0}, {0, 20}};
  door.objective.best_points = {std::nullopt, 0};
  const auto method = make_line_search_descent(options, 2);
  ASSERT_TRUE(method->step(door.oracle));
  EXPECT_DOUBLE_EQ(rho_over_start(*method), 1.25);
  EXPECT_EQ(search_over_start(*method), 1);
  // Precisions 1 and 1/4.
  expect_near(door.objective.directions.back(), {0.8 * 1, 0.2 * 5});
  EXPECT_EQ(door.journal.at(0), Event::gaussian(1 / std::sqrt(2 * kNoiseless)).describe());
  EXPECT_EQ(door.journal.at(2), Event::gaussian(1 / std::sqrt(0.5 * kNoiseless)).describe());
  EXPECT_EQ(door.journal.size(), 4u);
  const double whole = 3 / std::sqrt(2 * 1.25 * kNoiseless) / ScriptedDoor::kDivisor;
  EXPECT_NEAR(method->report().noise_stddev, whole, 1e-3 * whole);
}

// --- ends, states, options

TEST(LineSearch, ARefusalEndsTheRunWhereverItComes) {
  for (const std::size_t grants : {0u, 1u, 2u, 3u}) {
    ScriptedDoor door(2, 2 + grants);
    door.objective.gradients = {{4, 0}, {4, 0}, {-4, 1}};
    door.objective.best_points = {0, std::nullopt, std::nullopt};
    const auto method = make_line_search_descent(noiseless(), 2);
    ASSERT_TRUE(method->step(door.oracle));
    const Vector before = weights_of(*method, 2);
    EXPECT_FALSE(method->step(door.oracle));
    EXPECT_EQ(weights_of(*method, 2), before);
    EXPECT_EQ(method->report().step, 1);
    const std::size_t asked = door.journal.size();
    EXPECT_FALSE(method->step(door.oracle));
    EXPECT_EQ(door.journal.size(), asked);  // not asked again
    const auto resumed = make_line_search_descent(noiseless(), 2);
    resumed->restore(method->save());
    EXPECT_FALSE(resumed->step(door.oracle));
    EXPECT_EQ(door.journal.size(), asked);
  }
}

TEST(LineSearch, EachQueryIsChargedAsItIsAsked) {
  LineSearchOptions options = convex_line_search(0.5);
  ScriptedDoor door(1);
  door.objective.gradients = {{4}};
  door.objective.best_points = {0};
  const auto method = make_line_search_descent(options, 1);
  ASSERT_TRUE(method->step(door.oracle));
  const Journal expected = {Event::gaussian(1 / 0.005).describe(),
                            Event::above_threshold_laplace(0.0025, 0.00125).describe()};
  EXPECT_EQ(door.journal, expected);
  const PoissonSampler sampler({.rows = 1, .declared_rows = 4}, 0.25);
  EXPECT_EQ(line_search_event(options, sampler).describe(),
            Event::composed({Event::poisson_sampled(0.25, Event::gaussian(1 / 0.005)),
                             Event::poisson_sampled(0.25, Event::above_threshold_laplace(0.0025, 0.00125))})
                .describe());
}

TEST(LineSearch, SettingsForNets) {
  const LineSearchOptions options = neural_line_search(0.01, 10);
  EXPECT_DOUBLE_EQ(options.gradient_rho, 0.009);
  EXPECT_DOUBLE_EQ(std::get<GaussianSearch>(options.search).query_noise,
                   gaussian_search_of(0.001, 10).query_noise);
  EXPECT_EQ(options.candidates, 10);
  EXPECT_EQ(options.loss_bound, 3);
  EXPECT_EQ(options.decrease, 0.001);
  EXPECT_TRUE(std::holds_alternative<NeverRaise>(options.growth));
}

TEST(LineSearch, TheAverageOfIteratesIsAnOption) {
  LineSearchOptions options = noiseless();
  options.first_step = 1;
  options.average = {.kind = Averaging::exponential, .decay = 0.5};
  ScriptedDoor door(1);
  door.objective.gradients = {{4}};
  door.objective.best_points = {0};
  const auto method = make_line_search_descent(options, 1);
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(method->step(door.oracle));
  expect_near(weights_of(*method, 1), {-(1 + 2 * 2) / 3.0});
  options.average.kind = Averaging::half;
  EXPECT_THAT(refusal([&] { make_line_search_descent(options, 1); }), HasSubstr("got half"));
}

TEST(LineSearch, WeightsThatOverflowAreSaidToDoSo) {
  LineSearchOptions options = noiseless();
  options.growth = NeverRaise{};
  options.first_step = 1e308;
  ScriptedDoor door(1);
  door.objective.gradients = {{4e3}};
  door.objective.best_points = {std::nullopt};
  const auto method = make_line_search_descent(options, 1);
  EXPECT_THAT(refusal([&] { (void)method->step(door.oracle); }), HasSubstr("the weights overflow in step 1"));
}

TEST(LineSearch, WrongOptionsAreRefused) {
  const auto refused = [](auto change) {
    LineSearchOptions options;
    change(options);
    return refusal([&] { make_line_search_descent(options, 1); });
  };
  EXPECT_EQ(refused([](LineSearchOptions&) {}), "");
  EXPECT_THAT(refused([](auto& o) { o.loss_bound = 0; }), HasSubstr("loss_bound"));
  EXPECT_THAT(refused([](auto& o) { o.gradient_rho = 0; }), HasSubstr("gradient_rho > 0"));
  EXPECT_THAT(refused([](auto& o) { o.first_step = 0; }), HasSubstr("first_step > 0"));
  EXPECT_THAT(refused([](auto& o) { o.candidates = 0; }), HasSubstr("1 <= candidates"));
  EXPECT_THAT(refused([](auto& o) { o.shrink = 1; }), HasSubstr("0 < shrink < 1"));
  EXPECT_THAT(refused([](auto& o) { o.decrease = 1; }), HasSubstr("0 < decrease < 1"));
  EXPECT_THAT(refused([](auto& o) { o.reset_every = 0; }), HasSubstr("reset_every >= 1"));
  EXPECT_THAT(refused([](auto& o) { o.reset_factor = 0.9; }), HasSubstr("reset_factor >= 1"));
  EXPECT_THAT(refused([](auto& o) { o.ridge = -1; }), HasSubstr("ridge >= 0"));
  EXPECT_THAT(refused([](auto& o) { o.trusted = 0.5; }), HasSubstr("trusted >= 1"));
  EXPECT_THAT(refused([](auto& o) { o.decay = BoundDecay{1}; }), HasSubstr("zeta"));
  EXPECT_THAT(refused([](auto& o) { o.growth = CheckAngles{.raise = 0}; }), HasSubstr("raise > 0"));
  EXPECT_THAT(refused([](auto& o) { o.growth = CheckAngles{.widest = 0.9}; }), HasSubstr("widest >= 1"));
  EXPECT_THAT(refused([](auto& o) { o.growth = CheckAngles{.narrowest = 2}; }), HasSubstr("narrowest <= 1"));
  EXPECT_THAT(refused([](auto& o) { o.growth = CheckAngles{.memory = 1}; }), HasSubstr("memory < 1"));
  EXPECT_THAT(refused([](auto& o) { o.growth = RaiseGradient{0}; }), HasSubstr("raise > 0"));
}

}  // namespace
}  // namespace ration::testing
