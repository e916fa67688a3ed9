#include <gtest/gtest.h>

#include <cmath>

#include "base/distributions.h"
#include "clipping/adaptive.h"
#include "clipping/decay.h"
#include "ration/base/error.h"
#include "support/doubles.h"

namespace ration::testing {
namespace {

TEST(QuantileFollower, MovesAgainstTheExcess) {
  const QuantileFollower follower{.target = 0.5, .rate = 0.2};
  EXPECT_DOUBLE_EQ(follower.next_bound(2, 50, 100), 2);
  EXPECT_DOUBLE_EQ(follower.next_bound(2, 100, 100), 2 * std::exp(-0.1));
  EXPECT_DOUBLE_EQ(follower.next_bound(2, 0, 100), 2 * std::exp(0.1));
}

TEST(QuantileFollower, NoiseCannotThrowItFar) {
  const QuantileFollower follower;
  EXPECT_DOUBLE_EQ(follower.next_bound(2, 1e300, 100), 2 * std::exp(-0.1));
  EXPECT_DOUBLE_EQ(follower.next_bound(2, -HUGE_VAL, 100), 2 * std::exp(0.1));
  EXPECT_EQ(follower.next_bound(2, std::nan(""), 100), 2);
}

// From a bound a thousand times too small or too large to the quantile of exponential norms, -ln(1 - target).
TEST(QuantileFollower, FindsTheQuantile) {
  for (const double target : {0.2, 0.5, 0.9}) {
    for (const double start : {1e-3, 1e3}) {
      SeededRandom random(5);
      const QuantileFollower follower{.target = target, .rate = 0.2};
      double bound = start;
      for (int step = 0; step < 600; ++step) {
        const double share = 1 - std::exp(-bound);
        bound = follower.next_bound(bound, 1000 * share + 10 * standard_gaussian(random), 1000);
      }
      EXPECT_NEAR(bound, -std::log(1 - target), 0.1 * bound) << target;
    }
  }
}

TEST(QuantileFollower, RefusesWhatItCannotFollow) {
  EXPECT_THROW((QuantileFollower{.target = 1.5, .rate = 0.2}.next_bound(1, 1, 1)), InputError);
  EXPECT_THROW((QuantileFollower{.target = 0.5, .rate = 0}.next_bound(1, 1, 1)), InputError);
  EXPECT_THROW(QuantileFollower{}.next_bound(0, 1, 1), InputError);
  EXPECT_THROW(QuantileFollower{}.next_bound(1, 1, 0), InputError);
}

TEST(BoundDecay, ShrinksByZeta) {
  EXPECT_DOUBLE_EQ(BoundDecay{}.next_bound(3), 3 * 0.95);
  EXPECT_EQ(BoundDecay{.zeta = 0}.next_bound(3), 3);
  EXPECT_THROW(BoundDecay{.zeta = 1}.next_bound(3), InputError);
  EXPECT_THROW(BoundDecay{.zeta = -0.1}.next_bound(3), InputError);
}

}  // namespace
}  // namespace ration::testing
