#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "mechanisms/laplace.h"
#include "mechanisms/release_audit.h"
#include "ration/base/random.h"
#include "support/statistics.h"

namespace ration {
namespace {

using testing::follows_laplace;

// Fails by chance with probability < 1e-9 (Kolmogorov-Smirnov, n = 2e4).
TEST(LaplaceMechanism, NoiseHasTheDeclaredScaleAroundTheValue) {
  const LaplaceMechanism mechanism({.sensitivity = 2.0, .scale = 3.0});
  std::vector<double> noise(20'000, -5.0);
  mechanism.add_noise(noise, SecureRandom::for_this_thread());
  // 20'000 coordinates drift by 20'000 steps, 0.1% of the sensitivity; the test does not see it.
  for (double& value : noise) value += 5.0;
  EXPECT_TRUE(follows_laplace(noise, 6.0));
  EXPECT_FALSE(follows_laplace(noise, 4.0));
  EXPECT_FALSE(follows_laplace(noise, 9.0));
}

// Fails by chance with probability < 4e-9 (release_audit.h, 1e5 runs on each neighbour). At half the claimed
// epsilon the best event shows delta = 1 - exp(-epsilon / 4), at the claimed one nothing; half the noise
// shows 0.39 there.
TEST(LaplaceMechanism, NeighboursDifferByTheClaimedEpsilonAndNoMore) {
  const double epsilon = 1.0;
  const double sensitivity = 0.7;
  const LaplaceMechanism mechanism({.sensitivity = sensitivity, .scale = 1 / epsilon});
  const auto release = [&](double value) {
    return mechanism.release(value, SecureRandom::for_this_thread());
  };
  const auto at_claim = testing::audit(release, sensitivity, 0.0, epsilon, 100'000);
  EXPECT_LE(at_claim.delta, at_claim.tolerance);
  const auto below = testing::audit(release, sensitivity, 0.0, epsilon / 2, 100'000);
  EXPECT_NEAR(below.delta, 1 - std::exp(-epsilon / 4), below.tolerance);
}

}  // namespace
}  // namespace ration
