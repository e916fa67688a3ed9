#include "mechanisms/laplace.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "mechanisms/laws.h"
#include "support/doubles.h"

namespace ration {
namespace {

using testing::input_error_of;
using testing::SeededRandom;

double released(const LaplaceMechanism& mechanism, double value) {
  SeededRandom random(1);
  return mechanism.release(value, random);
}

TEST(LaplaceMechanism, EveryOutputLiesOnTheGrid) {
  const LaplaceMechanism mechanism({.sensitivity = 0.3, .scale = 1.7});
  std::vector<double> values;
  for (int i = 0; i < 2000; ++i) values.push_back(0.1 * i - 250.0 / 3);
  SeededRandom random(1);
  mechanism.add_noise(values, random);
  for (const double value : values) ASSERT_EQ(std::remainder(value, mechanism.grid().step()), 0.0);
}

TEST(LaplaceMechanism, ValuesThatRoundAlikeAreReleasedAlike) {
  const LaplaceMechanism mechanism({});
  EXPECT_EQ(released(mechanism, 1.0), released(mechanism, 1.0 + 0.4 * mechanism.grid().step()));
}

TEST(LaplaceMechanism, NoiseCoversTheDriftOfEveryCoordinate) {
  const LaplaceMechanism mechanism({.sensitivity = 2.0, .scale = 3.0});
  for (const std::size_t dimension : {1U, 1000U}) {
    const double drift = static_cast<double>(dimension) * mechanism.grid().step();
    EXPECT_GE(mechanism.noise_scale(dimension), 3.0 * (2.0 + drift));
    EXPECT_LE(mechanism.noise_scale(dimension), 3.0 * (2.0 + drift) * (1 + 1e-12));
  }
}

TEST(LaplaceMechanism, NaNIsReleasedAsZeroAndInfinityAsTheLargestValue) {
  const LaplaceMechanism mechanism({});
  EXPECT_EQ(released(mechanism, std::nan("")), released(mechanism, 0.0));
  EXPECT_EQ(released(mechanism, INFINITY), released(mechanism, 1e200));
  EXPECT_TRUE(std::isfinite(released(mechanism, -INFINITY)));
}

TEST(LaplaceMechanism, EventIsExactlyWhatWasAskedFor) {
  const LaplaceMechanism mechanism({.sensitivity = 3.0, .scale = 1.1});
  EXPECT_EQ(std::get<Event::Laplace>(mechanism.event().node()).scale, 1.1);
}

TEST(LaplaceMechanism, RefusesBadOptions) {
  EXPECT_EQ(input_error_of([] { LaplaceMechanism({.sensitivity = 1.0, .scale = -2.0}); }),
            "LaplaceMechanism: expected scale > 0, got scale=-2");
  EXPECT_EQ(input_error_of([] { LaplaceMechanism({.sensitivity = NAN, .scale = 1.0}); }),
            "LaplaceMechanism: expected sensitivity > 0, got sensitivity=nan");
}

}  // namespace
}  // namespace ration
