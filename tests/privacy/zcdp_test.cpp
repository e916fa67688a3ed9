#include "privacy/zcdp.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <boost/multiprecision/cpp_bin_float.hpp>
#include <cmath>

#include "privacy/gdp.h"
#include "privacy/rdp.h"
#include "privacy/steps.h"
#include "privacy/zcdp_cost.h"
#include "ration/base/error.h"
#include "support/generators.h"

namespace ration {
namespace {

using testing::log_uniform;
using Exact = boost::multiprecision::cpp_bin_float_50;

// The bound of one order, as printed in [CKS20]; t = order - 1.
Exact bound_of_order(double rho, double delta, const Exact& t) {
  using boost::multiprecision::log1p;
  return Exact(rho) * (1 + t) - log(1 + 1 / t) - (log(Exact(delta)) + log(1 + t)) / t;
}

// Golden-section search over ln t: an independent way to the minimum.
Exact minimal_bound(double rho, double delta) {
  const Exact golden = (sqrt(Exact(5)) - 1) / 2;
  Exact low = -25, high = 60;
  for (int i = 0; i < 160; ++i) {
    const Exact left = high - golden * (high - low), right = low + golden * (high - low);
    if (bound_of_order(rho, delta, exp(left)) < bound_of_order(rho, delta, exp(right))) {
      high = right;
    } else {
      low = left;
    }
  }
  return bound_of_order(rho, delta, exp(low));
}

TEST(ZcdpEpsilon, IsTheMinimumOverTheOrders) {
  for (double rho : {1e-16, 1e-9, 1e-3, 0.3, 7.0, 1e3, 1e6}) {
    for (double delta : {0.1, 1e-5, 1e-30, 1e-300}) {
      const double expected = std::max(0.0, minimal_bound(rho, delta).convert_to<double>());
      const double got = zcdp_epsilon(rho, delta);
      EXPECT_NEAR(got, expected, 1e-10 * expected) << "rho " << rho << ", delta " << delta;
      EXPECT_GE(got, expected * (1 - 1e-16)) << "rounded down at rho " << rho << ", delta " << delta;
    }
  }
}

RC_GTEST_PROP(ZcdpEpsilon, NeverExceedsTheClassicBoundAndGrowsWithRho, ()) {
  const double rho = *log_uniform(1e-16, 1e6), delta = *log_uniform(1e-300, 0.1);
  const double factor = *log_uniform(1.0001, 3);
  const double epsilon = zcdp_epsilon(rho, delta);
  RC_ASSERT(std::isfinite(epsilon) && epsilon >= 0);
  RC_ASSERT(epsilon <= zcdp_epsilon_classic(rho, delta) * (1 + 1e-14));
  RC_ASSERT(zcdp_epsilon(rho * factor, delta) >= epsilon);
}

// zCDP is implied by GDP with mu = sqrt(2 rho), so its epsilon cannot be below the exact one.
RC_GTEST_PROP(ZcdpEpsilon, IsNeverBelowTheExactGaussianCurve, ()) {
  const double rho = *log_uniform(1e-8, 100), delta = *log_uniform(1e-300, 0.1);
  RC_ASSERT(zcdp_epsilon(rho, delta) >= gdp_epsilon(std::sqrt(2 * rho), delta) * (1 - 1e-10));
}

RC_GTEST_PROP(ZcdpRho, IsRoundedDownAndTight, ()) {
  const double epsilon = *log_uniform(1e-6, 1e6), delta = *log_uniform(1e-300, 0.1);
  const double rho = zcdp_rho(epsilon, delta);
  RC_ASSERT(zcdp_epsilon(rho, delta) <= epsilon);
  RC_ASSERT(zcdp_epsilon(rho * (1 + 1e-9), delta) > epsilon);
  RC_ASSERT(rho >= zcdp_rho_classic(epsilon, delta) * (1 - 1e-14));
}

TEST(ZcdpRho, TakesEpsilonZero) {
  const double rho = zcdp_rho(0, 1e-5);
  EXPECT_GT(rho, 0);
  EXPECT_EQ(zcdp_epsilon(rho, 1e-5), 0);
  EXPECT_GT(zcdp_epsilon(rho * 1.001, 1e-5), 0);
}

RC_GTEST_PROP(ZcdpDelta, InvertsEpsilon, ()) {
  const double rho = *log_uniform(1e-6, 1e3), delta = *log_uniform(1e-300, 0.1);
  const double epsilon = zcdp_epsilon(rho, delta);
  RC_PRE(epsilon > 1e-3);
  const double log_delta = zcdp_log_delta(rho, epsilon);
  RC_ASSERT(std::abs(log_delta - std::log(delta)) <= 1e-8 * -std::log(delta));
}

TEST(ZcdpDelta, LivesInTheUnitIntervalAtTheExtremes) {
  EXPECT_EQ(zcdp_delta(1e6, 0), 1);
  EXPECT_EQ(zcdp_delta(0, 0), 0);
  EXPECT_EQ(zcdp_delta(1e-6, 1e3), 0);                   // underflows,
  EXPECT_NEAR(zcdp_log_delta(1e-6, 1e3), -2.5e11, 1e6);  // its logarithm does not: -(eps-rho)^2/(4 rho)
  EXPECT_EQ(zcdp_delta_classic(2, 1), 1);
}

TEST(ZcdpClassic, RoundTrips) {
  for (double epsilon : {1e-6, 0.5, 30.0}) {
    for (double delta : {1e-300, 1e-8}) {
      EXPECT_NEAR(zcdp_epsilon_classic(zcdp_rho_classic(epsilon, delta), delta), epsilon, 1e-14 * epsilon);
    }
  }
  // The figure that tells the inverse's sign: [DYN] prints a plus.
  EXPECT_NEAR(2 * zcdp_rho_classic(4, 1e-8), 0.3927, 5e-5);
}

// rho is at least D_alpha / alpha at every order alpha, and not ten times as much at all of them.
TEST(ZcdpCost, IsTheRenyiCurvesSlope) {
  for (const Event& event :
       {Event::gaussian(1.3), Event::discrete_gaussian(0.7), Event::laplace(2), Event::pure_dp(0.3),
        Event::pure_dp(2), Event::noisy_max(0.5), Event::bounded_range(0.7),
        Event::above_threshold_laplace(0.2, 0.1), Event::above_threshold_gaussian(4, 8, 100)}) {
    const double rho = zcdp_cost(steps_of(event, Relation::add_remove).at(0));
    RdpCurve curve(event, Relation::add_remove);
    double most = 0;
    for (double order = 1.0001; order < 1e4; order = 1 + 1.3 * (order - 1)) {
      EXPECT_LE(curve(order), rho * order * (1 + 1e-12)) << event.describe() << ", order " << order;
      most = std::max(most, curve(order) / order);
    }
    EXPECT_GE(most, 0.1 * rho) << event.describe();
  }
}

TEST(Zcdp, RefusesWhatIsOutsideItsDomain) {
  EXPECT_THROW(zcdp_epsilon(-1, 1e-5), InputError);
  EXPECT_THROW(zcdp_epsilon(1, 0), InputError);
  EXPECT_THROW(zcdp_delta(1, -1), InputError);
  EXPECT_THROW(zcdp_rho(-1, 1e-5), InputError);
}

}  // namespace
}  // namespace ration
