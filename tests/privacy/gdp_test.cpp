#include "privacy/gdp.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <boost/math/special_functions/erf.hpp>
#include <boost/multiprecision/cpp_bin_float.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "ration/base/error.h"
#include "support/generators.h"

namespace ration {
namespace {

using testing::log_uniform;
using Exact = boost::multiprecision::cpp_bin_float_100;

Exact exact_normal_cdf(const Exact& x) {
  return boost::math::erfc(Exact(-x / sqrt(Exact(2)))) / 2;
}

Exact exact_log_delta(double mu, double epsilon) {
  const Exact m(mu), e(epsilon);
  return log(exact_normal_cdf(m / 2 - e / m) - exp(e) * exact_normal_cdf(-m / 2 - e / m));
}

// The curve is right to the last digits from noise 20 to 1e4 and delta from 1 - 1e-20 to e^-1e6.
TEST(GdpDelta, AgreesWithMultiprecision) {
  for (double mu : {1e-4, 0.003, 0.05, 0.7, 0.999, 1.001, 3.0, 4.5, 20.0}) {
    for (double epsilon : {0.0, 1e-6, 1e-3, 0.02, 0.1, 1.0, 4.0, 10.0, 42.0, 199.9, 200.0, 200.1, 1e3}) {
      if (epsilon / mu > 1400) continue;
      const double expected = exact_log_delta(mu, epsilon).convert_to<double>();
      const double allowed = expected > -0.5 ? 1e-12 * std::abs(expected) : 1e-14 * (1 - expected);
      EXPECT_NEAR(gdp_log_delta(mu, epsilon), expected, allowed) << "mu " << mu << ", epsilon " << epsilon;
    }
  }
}

// Beyond what multiprecision reaches: delta = phi(x) mu/x^2 (1 + O(1/x^2, mu/x)).
TEST(GdpDelta, FollowsTheAsymptoteFarOut) {
  for (double epsilon : {1.0, 100.0, 1e3}) {
    const double mu = 1e-4, x = epsilon / mu - mu / 2;
    const double expected = -x * x / 2 - 0.5 * std::log(2 * M_PI) + std::log(mu / x / (x + mu));
    EXPECT_NEAR(gdp_log_delta(mu, epsilon), expected, 1e-15 * x * x / 2 + 4 / (x * x));
  }
}

TEST(GdpDelta, ZeroMuIsPerfectPrivacy) {
  EXPECT_EQ(gdp_delta(0, 0), 0);
  EXPECT_EQ(gdp_epsilon(0, 1e-300), 0);
}

// At epsilon 0 it is the total variation distance, erf(mu / sqrt(8)).
TEST(GdpDelta, IsTheTotalVariationDistanceAtEpsilonZero) {
  for (double mu : {1e-300, 1e-9, 0.1, 1.0, 5.0})
    EXPECT_DOUBLE_EQ(gdp_delta(mu, 0), std::erf(mu / std::sqrt(8.0)));
}

RC_GTEST_PROP(GdpDelta, FallsWithEpsilonAndGrowsWithMu, ()) {
  const double mu = *log_uniform(1e-4, 20), epsilon = *log_uniform(1e-4, 1e3),
               factor = *log_uniform(1.0001, 3);
  const double here = gdp_log_delta(mu, epsilon);
  RC_ASSERT(gdp_log_delta(mu, epsilon * factor) <= here);
  RC_ASSERT(gdp_log_delta(mu * factor, epsilon) >= here);
}

RC_GTEST_PROP(GdpEpsilon, IsRoundedUpAndTight, ()) {
  const double mu = *log_uniform(1e-4, 20), delta = *log_uniform(1e-300, 0.1);
  const double epsilon = gdp_epsilon(mu, delta);
  RC_ASSERT(std::isfinite(epsilon) && epsilon >= 0);
  RC_ASSERT(gdp_delta(mu, epsilon) <= delta);
  RC_ASSERT(gdp_log_delta(mu, epsilon) <= std::log(delta));
  if (epsilon > 1e-6) RC_ASSERT(gdp_log_delta(mu, epsilon * (1 - 1e-8)) > std::log(delta));
}

RC_GTEST_PROP(GdpMu, IsRoundedDownAndTight, ()) {
  const double epsilon = *log_uniform(1e-4, 1e3), delta = *log_uniform(1e-300, 0.1);
  const double mu = gdp_mu(epsilon, delta);
  RC_ASSERT(gdp_delta(mu, epsilon) <= delta);
  RC_ASSERT(gdp_log_delta(mu * (1 + 1e-8), epsilon) > std::log(delta));
}

TEST(GdpMu, TakesEpsilonZero) {
  const double mu = gdp_mu(0, 1e-5);
  EXPECT_NEAR(std::erf(mu / std::sqrt(8.0)), 1e-5, 1e-17);
  EXPECT_LE(gdp_delta(mu, 0), 1e-5);
}

// Rounding is against the user by more than the evaluation's error: the exact delta does not exceed the
// budget either.
TEST(GdpEpsilon, NeverOverspendsInExactArithmetic) {
  for (double mu : {0.01, 0.3, 1.0, 4.0, 20.0}) {
    for (double delta : {0.1, 1e-5, 1e-9, 1e-30, 1e-300}) {
      const double epsilon = gdp_epsilon(mu, delta);
      if (epsilon > 0) {
        EXPECT_LE(exact_log_delta(mu, epsilon), log(Exact(delta))) << mu << " " << delta;
      }
      const double calibrated = gdp_mu(1.5, delta);
      EXPECT_LE(exact_log_delta(calibrated, 1.5), log(Exact(delta))) << delta;
    }
  }
}

RC_GTEST_PROP(GaussianNoise, NeverOverspendsAndIsTight, ()) {
  const double epsilon = *log_uniform(1e-3, 1e3), delta = *log_uniform(1e-300, 0.1);
  const double noise = gaussian_noise(epsilon, delta);
  RC_ASSERT(gaussian_delta(noise, epsilon) <= delta);
  RC_ASSERT(gaussian_epsilon(noise, delta) <= epsilon * (1 + 1e-10));
  RC_ASSERT(gaussian_log_delta(noise * (1 - 1e-8), epsilon) > std::log(delta));
}

TEST(GaussianEpsilon, IsFiniteAtTheExtremes) {
  for (double noise : {0.05, 1e4}) {
    for (double delta : {0.1, 1e-300}) {
      const double epsilon = gaussian_epsilon(noise, delta);
      ASSERT_TRUE(std::isfinite(epsilon));
      if (epsilon > 0) {
        EXPECT_NEAR(gaussian_log_delta(noise, epsilon), std::log(delta), 1e-10 * -std::log(delta));
      }
    }
  }
  EXPECT_EQ(gaussian_epsilon(1e4, 0.1), 0);
}

TEST(GdpCentralLimit, OverflowIsInfinityAndLargeNoiseDoesNotCancel) {
  EXPECT_TRUE(std::isfinite(gdp_clt_mu_poisson(0.01, 0.05, 1e6)));
  EXPECT_TRUE(std::isfinite(gdp_clt_mu_fixed_size(0.01, 0.05, 1e6)));
  EXPECT_EQ(gdp_clt_mu_poisson(0.01, 0.01, 1e6), std::numeric_limits<double>::infinity());
  EXPECT_EQ(gdp_clt_mu_fixed_size(0.01, 0.01, 1e6), std::numeric_limits<double>::infinity());
  // Both tend to q sqrt(T) / s.
  EXPECT_NEAR(gdp_clt_mu_poisson(0.1, 1e4, 100) * 1e4, 1, 1e-7);
  EXPECT_NEAR(gdp_clt_mu_fixed_size(0.1, 1e4, 100) * 1e4, 1, 1e-4);
}

TEST(Gdp, RefusesWhatIsOutsideItsDomain) {
  EXPECT_THROW(gdp_delta(-1, 1), InputError);
  EXPECT_THROW(gdp_delta(1, -1), InputError);
  EXPECT_THROW(gdp_delta(std::nan(""), 1), InputError);
  EXPECT_THROW(gdp_epsilon(1, 0), InputError);
  EXPECT_THROW(gdp_epsilon(1, 1), InputError);
  EXPECT_THROW(gaussian_delta(0, 1), InputError);
  EXPECT_THROW(gaussian_noise(1, 1.5), InputError);
  EXPECT_THROW(gdp_clt_mu_poisson(1.5, 1, 1), InputError);
}

}  // namespace
}  // namespace ration
