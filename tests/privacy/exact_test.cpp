#include "privacy/exact.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "privacy/gdp.h"
#include "privacy/plans.h"
#include "privacy/pld.h"
#include "ration/base/error.h"

namespace ration {
namespace {

using testing::for_random_cases;
using testing::log_uniform;
using testing::random_count;
using testing::random_plan;

constexpr Direction kDirections[] = {Direction::remove, Direction::add};

// --- One step, by direct integration of the definition.

double loss(const SampledGaussian& step, double x) {
  const double u = (2 * x - 1) / (2 * step.noise * step.noise);
  return std::log1p(step.rate * std::expm1(u));
}

// integral of (p - e^epsilon q)^+ by the midpoint rule.
double integrated_delta(const SampledGaussian& step, Direction direction, double epsilon) {
  const double s = step.noise, reach = 12 * s + 1;
  constexpr int kCells = 100'000;
  const double width = 2 * reach / kCells;
  double sum = 0;
  for (int i = 0; i < kCells; ++i) {
    const double x = -reach + (i + 0.5) * width;
    const double null = std::exp(-0.5 * x * x / s / s) / std::sqrt(2 * M_PI) / s;
    const double mixture = null * std::exp(loss(step, x));
    const double p = direction == Direction::remove ? mixture : null,
                 q = direction == Direction::remove ? null : mixture;
    sum += std::max(0.0, p - std::exp(epsilon) * q) * width;
  }
  return sum;
}

TEST(SingleStep, IsTheDefinitionIntegrated) {
  for (const SampledGaussian& step :
       {SampledGaussian{0.1, 1}, SampledGaussian{0.5, 0.7}, SampledGaussian{0.9, 3}, SampledGaussian{1, 1}}) {
    for (const Direction direction : kDirections) {
      for (const double epsilon : {0.0, 0.02, 0.3, 1.0}) {
        const double expected = integrated_delta(step, direction, epsilon);
        EXPECT_NEAR(single_step_delta(step, direction, epsilon), expected, 1e-8)
            << step.rate << " " << epsilon;
      }
    }
  }
}

TEST(SingleStep, EpsilonIsTheInverseOfDelta) {
  for_random_cases(200, [] {
    const SampledGaussian step{*log_uniform(1e-7, 1), *log_uniform(0.05, 1e4)};
    const double delta = step.rate * *log_uniform(1e-280, 0.5);
    for (const Direction direction : kDirections) {
      const double epsilon = single_step_epsilon(step, direction, delta);
      RC_ASSERT(epsilon >= 0);
      RC_ASSERT(single_step_delta(step, direction, epsilon * (1 + 1e-9)) <= delta);
      const double below = epsilon * (1 - 1e-6);
      if (epsilon > 1e-9) RC_ASSERT(single_step_delta(step, direction, below) >= delta * (1 - 1e-8));
    }
  });
}

// Above e^709 the exponential overflows; the curve goes on.
TEST(SingleStep, SurvivesHugeEpsilons) {
  const SampledGaussian step{0.01, 0.02};
  const double epsilon = single_step_epsilon(step, Direction::remove, 1e-200);
  EXPECT_GT(epsilon, 1500);
  EXPECT_NEAR(std::log(single_step_delta(step, Direction::remove, epsilon)), std::log(1e-200), 1e-8);
  EXPECT_EQ(single_step_delta(step, Direction::add, 1), 0);  // no output has a loss above -log(1 - rate)
}

// --- Many steps.

TEST(ExactCurve, SampledAtRateNearlyOneApproachesTheGaussian) {
  for (const double noise : {3.0, 10.0, 40.0}) {
    const std::vector<SampledGaussian> plan = {{1 - 1e-9, noise, 50}};
    const double limit = gaussian_epsilon(noise / std::sqrt(50.0), 1e-6);
    EXPECT_NEAR(exact_epsilon(plan, 1e-6).value(), limit, 1e-6 * limit);
  }
}

// A second, nearly free step sends the same curve through the contour instead of the closed form.
TEST(ExactCurve, OneStepAndANearlyFreeOneIsTheClosedForm) {
  for (const double rate : {0.3, 0.7}) {
    for (const double noise : {0.7, 1.5}) {
      const SampledGaussian step{rate, noise};
      const std::vector<SampledGaussian> plan = {step, {1, 1e7}};
      for (const Direction direction : kDirections) {
        const auto exact = exact_epsilon(plan, direction, 1e-4);
        if (!exact) continue;
        EXPECT_NEAR(*exact, single_step_epsilon(step, direction, 1e-4), 1e-5) << rate << " " << noise;
      }
    }
  }
}

// delta(epsilon) and epsilon(delta) use contours through different saddles.
TEST(ExactCurve, TwoContoursAgree) {
  for_random_cases(60, [] {
    const SampledGaussianPlan plan = random_plan();
    const double delta = *log_uniform(1e-30, 1e-2);
    for (const Direction direction : kDirections) {
      const auto epsilon = exact_epsilon(plan, direction, delta);
      if (!epsilon || *epsilon < 1e-6) continue;
      const auto back = exact_delta(plan, direction, *epsilon);
      if (back) RC_ASSERT(std::abs(*back / delta - 1) <= 1e-5);
    }
  });
}

// Never silently wrong: whatever is returned lies in the certified bracket, also far from everyday
// parameters.
TEST(ExactCurve, LiesInTheCertifiedBracketOrSaysNothing) {
  int answered = 0;
  for_random_cases(40, [&] {
    SampledGaussianPlan plan;
    for (int kinds = *rc::gen::inRange(1, 3); kinds > 0; --kinds) {
      plan.push_back({*log_uniform(1e-5, 0.999), *log_uniform(0.3, 50), random_count(2, 1e5)});
    }
    const double delta = *log_uniform(1e-60, 0.1);
    const auto exact = exact_epsilon(plan, delta);
    if (!exact) return;
    ++answered;
    const PldBounds bounds = pld_epsilon(plan, delta, {.tolerance = 5e-3, .max_points = 1 << 18});
    RC_ASSERT(*exact >= bounds.lower - 1e-6 * std::max(1.0, bounds.lower));
    RC_ASSERT(*exact <= bounds.upper + 1e-6 * std::max(1.0, bounds.upper));
  });
  EXPECT_GE(answered, 10);
}

// The Renyi bound is fifty times the truth here, and a contour through its saddle once gave that bound as the
// answer.
TEST(ExactCurve, IsRightOrSilentWhereTheRenyiBoundIsFarOff) {
  const std::vector<SampledGaussian> plan = {{1e-4, 1, 1000}};
  EXPECT_NEAR(exact_epsilon(plan, 1e-5).value_or(0.0111857), 0.0111857, 1e-6);
  EXPECT_NEAR(exact_delta(plan, 0.0111857).value(), 1e-5, 1e-8);
}

TEST(ExactCurve, EqualStepsMayBeListedInParts) {
  const std::vector<SampledGaussian> whole = {{0.02, 1.2, 1000}};
  const std::vector<SampledGaussian> parts = {{0.02, 1.2, 300}, {0.5, 3, 0}, {0.02, 1.2, 700}};
  EXPECT_NEAR(exact_epsilon(whole, 1e-6).value(), exact_epsilon(parts, 1e-6).value(), 1e-12);
}

TEST(ExactCurve, FallsWithEpsilon) {
  const std::vector<SampledGaussian> plan = {{0.01, 0.8, 2000}, {0.2, 5, 100}};
  double last = 1;
  for (double epsilon = 0; epsilon < 12; epsilon += 0.5) {
    const double delta = exact_delta(plan, epsilon).value();
    EXPECT_LT(delta, last);
    last = delta;
  }
}

TEST(ExactCurve, RefusesWhatIsOutsideItsDomain) {
  const std::vector<SampledGaussian> plan = {{0.01, 1, 100}};
  EXPECT_THROW(exact_epsilon(plan, 0), InputError);
  EXPECT_THROW(exact_epsilon(plan, 1), InputError);
  EXPECT_THROW(exact_delta(plan, -0.1), InputError);
  EXPECT_THROW(exact_epsilon(std::vector<SampledGaussian>{{1.5, 1, 1}}, 1e-5), InputError);
  EXPECT_EQ(exact_epsilon({}, 1e-5), 0);
  EXPECT_EQ(exact_delta({}, 1), 0);
}

}  // namespace
}  // namespace ration
