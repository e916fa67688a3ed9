#include "base/numeric.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <boost/math/special_functions/erf.hpp>
#include <boost/math/special_functions/log1p.hpp>
#include <boost/multiprecision/cpp_bin_float.hpp>
#include <cmath>
#include <limits>
#include <vector>

namespace ration {
namespace {

using Exact = boost::multiprecision::cpp_bin_float_100;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

void expect_close(const Exact& expected, double got, double relative) {
  const Exact error = abs(Exact(got) - expected);
  EXPECT_LE(error.convert_to<double>(), relative * abs(expected).convert_to<double>())
      << "expected " << expected.convert_to<double>() << ", got " << got;
}

Exact exact_normal_cdf(double x) {
  return boost::math::erfc(Exact(-x / sqrt(Exact(2)))) / 2;
}

TEST(LogAddExp, AgreesWithTheDirectForm) {
  for (double gap : {0., 1e-9, 0.3, 5., 40., 800.}) {
    const Exact expected = log(exp(Exact(-700)) + exp(Exact(-700) - Exact(gap)));
    expect_close(expected, log_add_exp(-700, -700 - gap), 1e-15);
    expect_close(expected, log_add_exp(-700 - gap, -700), 1e-15);
  }
}

TEST(LogAddExp, LogOfZeroIsAnOrdinaryValue) {
  EXPECT_EQ(log_add_exp(-kInfinity, -kInfinity), -kInfinity);
  EXPECT_EQ(log_add_exp(-kInfinity, 3), 3);
  EXPECT_EQ(log_add_exp(kInfinity, 3), kInfinity);
}

TEST(LogSubExp, AgreesWithTheDirectForm) {
  for (double gap : {1e-12, 1e-3, 0.69, 0.7, 5., 40.}) {
    expect_close(log(exp(Exact(2)) - exp(Exact(2 - gap))), log_sub_exp(2, 2 - gap), 2e-15);
  }
  EXPECT_EQ(log_sub_exp(2, 2), -kInfinity);
  EXPECT_EQ(log_sub_exp(2, -kInfinity), 2);
}

TEST(Log1mExp, AgreesWithTheDirectForm) {
  for (double x : {-1e-300, -1e-17, -1e-5, -0.5, -0.6931, -0.6932, -3., -37., -700.}) {
    using boost::multiprecision::expm1;
    const Exact y(x);
    expect_close(x < -1 ? boost::math::log1p(Exact(-exp(y))) : log(-expm1(y)), log1m_exp(x), 4e-16);
  }
  EXPECT_EQ(log1m_exp(0), -kInfinity);
}

Exact exact_log_binomial(double n, int k) {
  Exact product = 1;
  for (int i = 1; i <= k; ++i) product *= Exact(n - k + i) / i;
  return log(product);
}

TEST(LogBinomial, AgreesWithTheProductWhereLgammaCancels) {
  for (double n : {3., 10., 37., 1024., 1e5, 1e7}) {
    for (int k : {1, 2, 3, 9, 14, 15, 16, 200}) {
      if (k < n) expect_close(exact_log_binomial(n, k), log_binomial(n, k), 2e-14);
    }
  }
  EXPECT_EQ(log_binomial(1e7, 0), 0);
  EXPECT_EQ(log_binomial(1e7, 1e7), 0);
  EXPECT_EQ(log_binomial(20, 17), log_binomial(20, 3));
}

TEST(LogBinomial, TakesRealArguments) {
  const Exact expected = lgamma(Exact(8.5)) - lgamma(Exact(3.25)) - lgamma(Exact(6.25));
  expect_close(expected, log_binomial(7.5, 2.25), 1e-14);
}

TEST(NormalCdf, AgreesWithMultiprecisionInBothTails) {
  for (double x = -37; x <= 38; x += 0.37) expect_close(exact_normal_cdf(x), normal_cdf(x), 1e-12);
  EXPECT_EQ(normal_cdf(-1e300), 0);
  EXPECT_EQ(normal_cdf(1e300), 1);
}

TEST(LogNormalCdf, AgreesWithMultiprecisionInBothTails) {
  for (double x = -200; x <= 38; x += 0.37) {
    const Exact expected =
        x > 0 ? boost::math::log1p(Exact(-exact_normal_cdf(-x))) : log(exact_normal_cdf(x));
    // Near 1 the logarithm is -(1 - Phi), whose condition number in x is x^2.
    expect_close(expected, log_normal_cdf(x), x > 0 ? 1e-14 + 4e-16 * x * x : 1e-14);
  }
}

TEST(LogNormalCdf, FollowsTheAsymptoteFarOut) {
  for (double x : {-1e4, -1e6, -1e8}) {
    const Exact y = Exact(1) / (Exact(x) * x);
    const Exact expected = -Exact(x) * x / 2 - log(sqrt(2 * boost::math::constants::pi<Exact>()) * -x) +
                           log(1 - y + 3 * y * y - 15 * y * y * y);
    expect_close(expected, log_normal_cdf(x), 1e-15);
  }
}

TEST(MillsRatio, AndItsSlopeAgreeWithMultiprecision) {
  for (double x : {-30., -3., -0.5, 0., 0.5, 1.9, 1.999, 2., 2.001, 3., 5., 12., 60.}) {
    const Exact density = exp(-Exact(x) * x / 2) / sqrt(2 * boost::math::constants::pi<Exact>());
    const Exact ratio = exact_normal_cdf(-x) / density;
    expect_close(ratio, mills_ratio(x), 1e-14 + 1e-16 * x * x);
    expect_close(1 - x * ratio, mills_ratio_slope(x), 1e-14 + 1e-16 * x * x);
  }
}

TEST(MillsRatio, FollowsTheAsymptoteFarOut) {
  for (double x : {1e5, 1e8, 1e150}) {
    EXPECT_DOUBLE_EQ(mills_ratio(x), 1 / x * (1 - 1 / x / x));
    EXPECT_DOUBLE_EQ(mills_ratio_slope(x), 1 / x / x * (1 - 3 / x / x));
  }
  EXPECT_EQ(mills_ratio(-1e3), kInfinity);
}

}  // namespace
}  // namespace ration
