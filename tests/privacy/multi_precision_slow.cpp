// Two sampled steps, whose curve is one integral of a closed form, against the truth to 60 digits.
#include <gtest/gtest.h>

#include <cmath>

#include "privacy/multi_precision.h"
#include "privacy/plans.h"
#include "privacy/pld.h"
#include "ration/privacy/accountant.h"

namespace ration::testing {
namespace {

Real larger_delta_of_two(double rate, double noise, double epsilon, double delta) {
  return std::max<Real>(true_delta_of_two(rate, noise, true, epsilon, delta),
                        true_delta_of_two(rate, noise, false, epsilon, delta));
}

void expect_two_steps_covered(const Corner& c) {
  for (const Accountant accountant : {Accountant::pld, Accountant::rdp}) {
    const double epsilon =
        account(poisson_gaussian(c.rate, c.noise, 2), Relation::add_remove, accountant, c.delta).epsilon;
    EXPECT_LE(larger_delta_of_two(c.rate, c.noise, epsilon, c.delta), Real(c.delta))
        << to_string(accountant) << " " << words(c);
  }
  const double lower = pld_epsilon(SampledGaussianPlan{{c.rate, c.noise, 2}}, c.delta).lower;
  if (lower > 0) {
    EXPECT_GE(larger_delta_of_two(c.rate, c.noise, lower, c.delta), Real(c.delta) * (1 - 1e-9)) << words(c);
  }
}

TEST(TwoSteps, AreCoveredAtTheEdges) {
  for (const double rate : {1e-6, 0.1, 0.999}) {
    for (const double noise : {0.5, 5.0, 1000.0}) {
      for (const double delta : {1e-300, 1e-8}) expect_two_steps_covered({noise, rate, 2, delta});
    }
  }
}

// A truth on a grid of fixed steps was wrong here by 5e-4.
TEST(TwoSteps, AreCoveredWhereTheSecondLossEnds) {
  expect_two_steps_covered({2.70576, 0.0203749, 2, 2.88165e-53});
}

TEST(TwoSteps, AreCoveredEverywhere) {
  for_random_cases(12, [] {
    expect_two_steps_covered(
        {*log_uniform(0.3, 1e4), *log_uniform(1e-9, 0.999), 2, *log_uniform(1e-300, 0.5)});
  });
}

}  // namespace
}  // namespace ration::testing
