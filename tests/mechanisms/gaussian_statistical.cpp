#include <gtest/gtest.h>

#include <vector>

#include "mechanisms/discrete_gaussian.h"
#include "mechanisms/gaussian.h"
#include "mechanisms/release_audit.h"
#include "ration/base/random.h"
#include "support/statistics.h"

namespace ration {
namespace {

using testing::follows_normal;

// Both forms of the mechanism promise the same, so both run the same tests.
template <class Mechanism>
class GaussianNoise : public ::testing::Test {
 protected:
  static double release(const Mechanism& mechanism, double value) {
    mechanism.add_noise({&value, 1}, SecureRandom::for_this_thread());
    return value;
  }
};

using Mechanisms = ::testing::Types<GaussianMechanism, DiscreteGaussianMechanism>;
TYPED_TEST_SUITE(GaussianNoise, Mechanisms);

// Fails by chance with probability < 1e-9 (Kolmogorov-Smirnov, n = 2e4).
TYPED_TEST(GaussianNoise, HasTheDeclaredScaleAroundTheValue) {
  const TypeParam mechanism({.sensitivity = 2.0, .noise_multiplier = 3.0});
  std::vector<double> noise(20'000, 5.0);
  mechanism.add_noise(noise, SecureRandom::for_this_thread());
  for (double& value : noise) value -= 5.0;
  EXPECT_TRUE(follows_normal(noise, 6.0));
  EXPECT_FALSE(follows_normal(noise, 4.0));
  EXPECT_FALSE(follows_normal(noise, 9.0));
}

// Fails by chance with probability < 2e-9 (release_audit.h, 1e5 runs on each neighbour). The audit reaches
// the claimed delta, so noise of half the scale (delta 0.51 in place of 0.13) is found out.
TYPED_TEST(GaussianNoise, NeighboursDifferByTheClaimedDeltaAndNoMore) {
  const double epsilon = 1.0;
  const double multiplier = 1.0;
  const double sensitivity = 0.7;
  const TypeParam mechanism({.sensitivity = sensitivity, .noise_multiplier = multiplier});
  const double claimed = testing::gaussian_delta(multiplier, epsilon);
  const auto found = testing::audit([&](double value) { return this->release(mechanism, value); },
                                    sensitivity, 0.0, epsilon, 100'000);
  EXPECT_LE(found.delta, claimed + found.tolerance);
  EXPECT_GE(found.delta, claimed - found.tolerance);
}

}  // namespace
}  // namespace ration
