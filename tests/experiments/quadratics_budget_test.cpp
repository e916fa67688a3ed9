#include <gtest/gtest.h>

#include <boost/math/distributions/normal.hpp>
#include <cmath>

#include "ration/privacy/calibrate.h"

namespace ration::testing {
namespace {

// Why no schedule can win anything on E5's quadratics at its smallest budget. One release that takes all of
// (0.05, 1e-8) is mu-GDP, and however a budget is divided, what comes out is no more: all releases together
// about 60 rows are (60 mu)-GDP apart from those about no rows [Dong22, Thm 2.14]. So they differ in total
// variation by at most 2 Phi(60 mu / 2) - 1: in three runs out of four they might as well be about no rows at
// all, whatever the scheduler does.
TEST(Quadratics, AtTheSmallestBudgetSixtyRowsCanHardlyBeToldFromNone) {
  const double noise =
      calibrate_noise([](double size) { return Event::gaussian(size); }, Relation::add_remove,
                      Accountant::gdp, {.epsilon = 0.05, .delta = 1e-8});
  const double all_rows = 60 / noise;
  EXPECT_GT(all_rows, 0.6);
  EXPECT_LT(all_rows, 0.7);
  const double total_variation = 2 * cdf(boost::math::normal(), all_rows / 2) - 1;
  EXPECT_LT(total_variation, 0.27);
}

// What all of that is worth in loss. A query asks for a sum S of 60 independent vectors no longer than 1,
// whose covariance has a trace of at most 60, so a release with noise s says at most 60 / (2 s^2) nats about
// the problem, and all of them together 60 mu^2 / 2, however the budget is divided and whatever was learned
// before (chain rule). Without any, the best guess at the minimum, which is Gaussian around a public point up
// to what 60 terms leave, is 2 / 60 above it on average: two parameters fitted to unit variance. In two
// dimensions I nats lower that by no more than a share of 1 - exp(-I) (rate and distortion of a Gaussian,
// which the minimum is only nearly). The standard error of 100 runs is .001.
TEST(Quadratics, WhatCanBeLearnedPrivatelyIsFarBelowWhatAHundredRunsShow) {
  const double noise =
      calibrate_noise([](double size) { return Event::gaussian(size); }, Relation::add_remove,
                      Accountant::gdp, {.epsilon = 0.05, .delta = 1e-8});
  const double nats = 60 / (2 * noise * noise);
  const double most_gain = 2.0 / 60 * (1 - std::exp(-nats));
  EXPECT_LT(most_gain, 0.001 / 5);
}

}  // namespace
}  // namespace ration::testing
