#include "privacy/advanced.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "privacy/gdp.h"
#include "ration/base/error.h"
#include "support/generators.h"

namespace ration {
namespace {

using testing::log_uniform;

// The formulas as printed.
double as_printed(double epsilon, double steps, double slack) {
  const double basic = steps * epsilon;
  const double dwork =
      epsilon * std::sqrt(2 * steps * std::log(1 / slack)) + steps * epsilon * std::expm1(epsilon);
  const double drift = steps * epsilon * std::expm1(epsilon) / (std::exp(epsilon) + 1);
  const double kairouz = drift + epsilon * std::sqrt(2 * steps * std::log(1 / slack));
  const double kairouz_small =
      drift + epsilon * std::sqrt(2 * steps * std::log(std::exp(1) + std::sqrt(steps) * epsilon / slack));
  return std::min({basic, dwork, kairouz, kairouz_small});
}

RC_GTEST_PROP(AdvancedComposition, IsTheLeastOfThePrintedBounds, ()) {
  const double epsilon = *log_uniform(1e-8, 10), steps = *log_uniform(1, 1e8),
               slack = *log_uniform(1e-200, 0.1);
  const double expected = as_printed(epsilon, steps, slack),
               got = advanced_composition_epsilon(epsilon, steps, slack);
  RC_ASSERT(got >= expected);
  RC_ASSERT(got <= expected * (1 + 1e-12));
}

TEST(AdvancedComposition, EachBoundIsTheLeastSomewhere) {
  EXPECT_NEAR(advanced_composition_epsilon(0.1, 2, 1e-9), 0.2, 1e-12);  // basic
  EXPECT_NEAR(advanced_composition_epsilon(0.1, 1000, 1e-6),
              1000 * 0.1 * std::tanh(0.05) + 0.1 * std::sqrt(2000 * std::log(1e6)), 1e-9);
  const double tiny = 1e-4, drift = 100 * tiny * std::tanh(tiny / 2);  // sqrt(T) e well below 1
  EXPECT_NEAR(advanced_composition_epsilon(tiny, 100, 1e-2),
              drift + tiny * std::sqrt(200 * std::log(std::exp(1) + 0.1)), 1e-12);
}

TEST(AdvancedComposition, SurvivesTheExtremes) {
  EXPECT_TRUE(std::isfinite(advanced_composition_epsilon(1e3, 1e8, 1e-300)));
  EXPECT_NEAR(advanced_composition_epsilon(1e3, 1e8, 1e-300), 1e11, 1);
  EXPECT_EQ(advanced_composition_epsilon(0, 1e8, 1e-300), 0);
  EXPECT_NEAR(advanced_composition_epsilon(0.5, 10, 0), 5, 1e-11);
}

// On randomised response, where the composition is known exactly: the k-fold binomial.
double exact_delta_of_randomised_response(double step_epsilon, int steps, double epsilon) {
  double delta = 0;
  for (int k = 0; k <= steps; ++k) {
    const double loss = (2 * k - steps) * step_epsilon;
    const double log_p = std::lgamma(steps + 1) - std::lgamma(k + 1) - std::lgamma(steps - k + 1) +
                         k * step_epsilon - steps * std::log1p(std::exp(step_epsilon));
    if (loss > epsilon) delta += std::exp(log_p) * -std::expm1(epsilon - loss);
  }
  return delta;
}

TEST(AdvancedComposition, HoldsForRandomisedResponse) {
  for (double step_epsilon : {0.01, 0.1, 0.5, 2.0}) {
    for (int steps : {1, 10, 300}) {
      for (double slack : {0.05, 1e-3, 1e-8}) {
        const double epsilon = advanced_composition_epsilon(step_epsilon, steps, slack);
        EXPECT_LE(exact_delta_of_randomised_response(step_epsilon, steps, epsilon), slack);
      }
    }
  }
}

// Full batch, where the truth is known exactly: T Gaussian mechanisms are one with noise s / sqrt(T).
RC_GTEST_PROP(AdvancedGaussian, IsNeverBelowTheTruth, ()) {
  const double noise = *log_uniform(0.05, 1e4), delta = *log_uniform(1e-300, 0.1);
  const auto steps = static_cast<std::int64_t>(*log_uniform(1, 1e8));
  const double epsilon = advanced_gaussian_epsilon(noise, 1, steps, delta);
  RC_ASSERT(std::isfinite(epsilon));
  RC_ASSERT(epsilon >= gaussian_epsilon(noise / std::sqrt(static_cast<double>(steps)), delta) * (1 - 1e-10));
}

TEST(AdvancedGaussian, OneStepOnEveryRowIsTheExactCurve) {
  EXPECT_NEAR(advanced_gaussian_epsilon(2, 1, 1, 1e-5), gaussian_epsilon(2, 1e-5), 1e-9);
}

TEST(AdvancedGaussian, SamplingAmplifiesAsTheTheoremSays) {
  // One step: (ln(1 + q (e^e0 - 1)), q d0) with q d0 = delta.
  const double expected = std::log1p(0.01 * std::expm1(gaussian_epsilon(2, 1e-3)));
  EXPECT_NEAR(advanced_gaussian_epsilon(2, 0.01, 1, 1e-5), expected, 1e-9);
  // e^e0 overflows; ln q is what sampling gains.
  EXPECT_NEAR(advanced_gaussian_epsilon(0.02, 0.01, 1, 1e-5), gaussian_epsilon(0.02, 1e-3) + std::log(0.01),
              1e-8);
  // A delta that sampling alone grants: the row is in the sample with probability below delta.
  EXPECT_EQ(advanced_gaussian_epsilon(0.02, 1e-6, 1, 1e-5), 0);
}

// Neither below the best split of delta (that would spend some of it twice) nor far above it.
TEST(AdvancedGaussian, IsTheBestSplitOfDelta) {
  const double delta = 1e-5, noise = 20, rate = 0.05;
  for (std::int64_t steps : {100, 10'000}) {
    const auto count = static_cast<double>(steps);
    double best = std::numeric_limits<double>::infinity();
    for (int i = 1; i < 2000; ++i) {
      const double slack = delta * i / 2000;
      const double before_sampling = gaussian_epsilon(noise, (delta - slack) / count / rate);
      const double step_epsilon = std::log1p(rate * std::expm1(before_sampling));
      best = std::min(best, advanced_composition_epsilon(step_epsilon, count, slack));
    }
    const double epsilon = advanced_gaussian_epsilon(noise, rate, steps, delta);
    EXPECT_GE(epsilon, best * (1 - 1e-4));
    EXPECT_LE(epsilon, best * (1 + 1e-4));
  }
}

TEST(AdvancedGaussian, EqualStepsMayBeListedInParts) {
  const std::vector<SampledGaussian> parts = {{0.1, 10, 300}, {0.1, 10, 0}, {0.1, 10, 700}};
  EXPECT_NEAR(advanced_gaussian_epsilon(parts, 1e-5), advanced_gaussian_epsilon(10, 0.1, 1000, 1e-5), 1e-9);
  EXPECT_EQ(advanced_gaussian_epsilon({}, 1e-5), 0);
}

// A mixture costs between the same number of its best and of its worst steps, and not below the truth.
TEST(AdvancedGaussian, MixedStepsLieBetweenTheirParts) {
  const std::vector<SampledGaussian> mixed = {{1, 10, 50}, {1, 40, 50}};
  const double epsilon = advanced_gaussian_epsilon(mixed, 1e-5);
  EXPECT_LT(epsilon, advanced_gaussian_epsilon(10, 1, 100, 1e-5));
  EXPECT_GT(epsilon, advanced_gaussian_epsilon(40, 1, 100, 1e-5));
  EXPECT_GT(epsilon, gdp_epsilon(std::sqrt(50 / 100.0 + 50 / 1600.0), 1e-5));
}

TEST(Advanced, RefusesWhatIsOutsideItsDomain) {
  EXPECT_THROW(advanced_composition_epsilon(-1, 1, 0.1), InputError);
  EXPECT_THROW(advanced_composition_epsilon(1, 1, 1), InputError);
  EXPECT_THROW(advanced_gaussian_epsilon(1, 0, 10, 1e-5), InputError);
  EXPECT_THROW(advanced_gaussian_epsilon(0, 1, 10, 1e-5), InputError);
  EXPECT_THROW(advanced_gaussian_epsilon(1, 1, 10, 0), InputError);
}

// The search for the best split must not jump between two minima: more steps never cost less.
TEST(AdvancedGaussian, GrowsWithEveryStep) {
  double last = 0;
  for (std::int64_t steps = 1; steps <= 300; ++steps) {
    const double epsilon = advanced_gaussian_epsilon(20, 1, steps, 1e-8);
    EXPECT_GE(epsilon, last * (1 - 1e-6)) << steps;
    last = epsilon;
  }
}

}  // namespace
}  // namespace ration
