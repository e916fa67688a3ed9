#include "mechanisms/discrete_gaussian.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

#include "mechanisms/laws.h"
#include "support/doubles.h"

namespace ration {
namespace {

using testing::input_error_of;
using testing::integer_law;
using testing::Law;
using testing::renyi_divergence;
using testing::SeededRandom;

Law discrete_gaussian_law(double sigma, int reach, double center = 0.0) {
  return integer_law(reach, [=](int k) { return (k - center) * (k - center) / (2 * sigma * sigma); });
}

// [CKS20, Thm 4], computed: the discrete Gaussian has the real one's Renyi curve for integer shifts, and
// reaches it where order * shift is an integer.
TEST(DiscreteGaussian, RenyiDivergenceOfIntegerShiftsIsAtMostTheGaussianOne) {
  for (const double sigma : {0.5, 1.0, 3.0, 10.0}) {
    const int reach = static_cast<int>(12 * sigma) + 8;
    for (const int shift : {1, 2}) {
      const Law p = discrete_gaussian_law(sigma, reach);
      const Law q = discrete_gaussian_law(sigma, reach, shift);
      const double rho = shift * shift / (2 * sigma * sigma);
      for (const double order : {1.0, 1.3, 1.5, 2.0, 4.0}) {
        EXPECT_LE(renyi_divergence(p, q, order), order * rho * (1 + 1e-9));
      }
      EXPECT_NEAR(renyi_divergence(p, q, 2.0), 2.0 * rho, 1e-9 * rho);
    }
  }
}

// The factor by which the discrete law differs from the rounded real one: the bound in the class comment.
TEST(DiscreteGaussian, ProbabilitiesAreThoseOfARoundedRealGaussianUpToTheStatedFactor) {
  for (const double sigma : {2.0, 8.0, 32.0}) {
    const int reach = static_cast<int>(12 * sigma);
    const Law law = discrete_gaussian_law(sigma, reach);
    double largest = 0.0;
    for (int k = 0; k <= reach / 2; ++k) {
      const double rounded = 0.5 * (std::erfc((k - 0.5) / (sigma * std::numbers::sqrt2)) -
                                    std::erfc((k + 0.5) / (sigma * std::numbers::sqrt2)));
      const double ratio = std::fabs(std::log(rounded / law[static_cast<std::size_t>(k + reach)]));
      const double z = k / sigma;
      EXPECT_LE(ratio, std::max(1.0, z * z) / (8 * sigma * sigma) + 1e-12) << "sigma " << sigma << " k " << k;
      largest = std::max(largest, ratio);
    }
    EXPECT_GT(largest, 1 / (8 * sigma * sigma));  // it is of this order, not exponentially small
  }
}

TEST(DiscreteGaussianMechanism, EveryOutputLiesOnTheGrid) {
  const DiscreteGaussianMechanism mechanism({.sensitivity = 0.3, .noise_multiplier = 1.7});
  std::vector<double> sum;
  for (int i = 0; i < 1000; ++i) sum.push_back(0.1 * i - 250.0 / 3);
  SeededRandom random(1);
  mechanism.add_noise(sum, random);
  for (const double value : sum) ASSERT_EQ(std::remainder(value, mechanism.grid().step()), 0.0);
}

TEST(DiscreteGaussianMechanism, NoiseIsNeverBelowThatOfTheContinuousForm) {
  const GaussianOptions options{.sensitivity = 0.3, .noise_multiplier = 1.7};
  for (const std::size_t dimension : {1U, 1000U, 1'000'000U}) {
    const double exact = DiscreteGaussianMechanism(options).stddev(dimension);
    EXPECT_GE(exact, GaussianMechanism(options).stddev(dimension));
    EXPECT_LE(exact, GaussianMechanism(options).stddev(dimension) * (1 + 1e-7));
  }
}

TEST(DiscreteGaussianMechanism, NaNIsReleasedAsZeroAndInfinityAsTheLargestValue) {
  const DiscreteGaussianMechanism mechanism({});
  const auto released = [&](double value) {
    SeededRandom random(1);
    mechanism.add_noise({&value, 1}, random);
    return value;
  };
  EXPECT_EQ(released(std::nan("")), released(0.0));
  EXPECT_EQ(released(-INFINITY), released(-1e200));
  EXPECT_TRUE(std::isfinite(released(INFINITY)));
}

TEST(DiscreteGaussianMechanism, EventIsExactlyWhatWasAskedFor) {
  const DiscreteGaussianMechanism mechanism({.sensitivity = 3.0, .noise_multiplier = 1.1});
  EXPECT_EQ(std::get<Event::DiscreteGaussian>(mechanism.event().node()).noise_multiplier, 1.1);
}

TEST(DiscreteGaussian, RefusesBadOptions) {
  EXPECT_EQ(input_error_of([] { DiscreteGaussian({.numerator = 0, .denominator = 1}); }),
            "DiscreteGaussian: expected numerator >= 1, got numerator=0");
  EXPECT_EQ(input_error_of([] { DiscreteGaussian({.numerator = 1, .denominator = 0}); }),
            "DiscreteGaussian: expected denominator >= 1, got denominator=0");
}

}  // namespace
}  // namespace ration
