// Reference values: mpmath, 40 digits, from the formulas in the papers.
#include "audit/bounds.h"

#include <gtest/gtest.h>

#include "privacy/gdp.h"

namespace ration::audit {
namespace {

TEST(ClopperPearson, AgreesWithTheBetaDistribution) {
  EXPECT_NEAR(probability_at_least({3, 20}, 0.025), 0.0320709371854637, 1e-12);
  EXPECT_NEAR(probability_at_most({3, 20}, 0.025), 0.378926826545314, 1e-12);
  EXPECT_NEAR(probability_at_least({450, 1000}, 0.0005), 0.398270063751029, 1e-12);
  EXPECT_NEAR(probability_at_most({450, 1000}, 0.0005), 0.502492663741461, 1e-12);
}

TEST(ClopperPearson, NothingAndEverythingAreFrequenciesToo) {
  EXPECT_EQ(probability_at_least({0, 10}, 0.05), 0);
  EXPECT_NEAR(probability_at_most({0, 10}, 0.05), 0.258865550893052, 1e-12);
  EXPECT_NEAR(probability_at_least({10, 10}, 0.05), 1 - 0.258865550893052, 1e-12);
  EXPECT_EQ(probability_at_most({10, 10}, 0.05), 1);
}

TEST(EpsilonOfATest, AgreesWithTheFormula) {
  const TestResult seen{.caught = {300, 1000}, .alarms = {100, 1000}};
  EXPECT_NEAR(epsilon_at_least(seen, 1e-5, 0.05), 0.814851074483299, 1e-12);
  EXPECT_NEAR(mu_at_least(seen, 0.05), 0.565932673062938, 1e-12);
}

TEST(EpsilonOfATest, NeverFallsBelowZero) {
  for (const TestResult& seen : {TestResult{{0, 10}, {10, 10}}, TestResult{{1, 10}, {9, 10}},
                                 TestResult{{0, 10}, {0, 10}}, TestResult{{10, 10}, {10, 10}}}) {
    EXPECT_EQ(epsilon_at_least(seen, 1e-5, 0.05), 0);
    EXPECT_EQ(mu_at_least(seen, 0.05), 0);
  }
  EXPECT_EQ(epsilon_at_least({{1, 1000}, {0, 1000}}, 0.1, 0.05), 0);  // delta explains it
}

TEST(EpsilonOfMu, IsThatOfTheGaussianRoundedDown) {
  EXPECT_EQ(gaussian_epsilon_at_least(0, 1e-5), 0);
  EXPECT_LE(gdp_delta(1.0, gaussian_epsilon_at_least(1, 1e-5)), 1e-5 * (1 + 1e-6));
  EXPECT_LT(gaussian_epsilon_at_least(1, 1e-5), gdp_epsilon(1, 1e-5));
}

TEST(OneRun, AgreesWithTheFormula) {
  EXPECT_NEAR(probability_of_guesses({100, 50, 40}, 1, 1e-3), 0.197555349147449, 1e-12);
  EXPECT_NEAR(probability_of_guesses({1000, 100, 80}, 0.5, 1e-5), 0.000869556541386982, 1e-14);
  EXPECT_NEAR(probability_of_guesses({10, 10, 10}, 0, 0), 1.0 / 1024, 1e-15);
  EXPECT_EQ(probability_of_guesses({10, 0, 0}, 1, 1e-5), 1);
}

TEST(OneRun, RefutesTheLargestEpsilonItCan) {
  EXPECT_NEAR(one_run_epsilon_at_least({100, 50, 45}, 1e-5, 0.05), 1.39279098440801, 1e-9);
  EXPECT_NEAR(one_run_epsilon_at_least({1000, 1000, 600}, 1e-6, 0.05), 0.297443870106549, 1e-9);
  EXPECT_EQ(one_run_epsilon_at_least({100, 50, 25}, 1e-5, 0.05), 0);
}

}  // namespace
}  // namespace ration::audit
