#include "mechanisms/grid.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "mechanisms/laws.h"

namespace ration {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Grid grid_of(double sensitivity, double noise) {
  return {"Test", sensitivity, noise};
}

TEST(Grid, StepIsAPowerOfTwoFarBelowNoiseAndSensitivity) {
  EXPECT_EQ(grid_of(1.0, 1.0).step(), 0x1p-24);
  EXPECT_EQ(grid_of(1.9, 3.0).step(), 0x1p-24);
  EXPECT_EQ(grid_of(1.0, 0.5).step(), 0x1p-25);     // little noise: the noise decides
  EXPECT_EQ(grid_of(1.0, 32.0).step(), 0x1p-24);    // much noise: the sensitivity decides
  EXPECT_EQ(grid_of(1.0, 0x1p20).step(), 0x1p-10);  // but never finer than 2^-30 of the noise
}

TEST(Grid, RoundingMovesAValueByAtMostHalfAStepOntoTheGrid) {
  EXPECT_TRUE(rc::check([](double seed, double noise_seed) {
    const double noise = 1e-3 + std::fabs(std::remainder(noise_seed, 1e3));
    const Grid grid = grid_of(1.0, noise);
    const double value = std::remainder(seed, 1e6 * noise);
    const double rounded = grid.round(value);
    RC_ASSERT(std::remainder(rounded, grid.step()) == 0.0);
    RC_ASSERT(std::fabs(rounded - value) <= grid.step() / 2);
    RC_ASSERT(grid.value(grid.steps(value)) == rounded);
  }));
}

TEST(Grid, ValuesNoGridCanHoldAreMadeHarmless) {
  const Grid grid = grid_of(1.0, 1.0);
  const double largest = 0x1p62 * grid.step();
  EXPECT_EQ(grid.round(std::nan("")), 0.0);
  EXPECT_EQ(grid.round(kInfinity), largest);
  EXPECT_EQ(grid.round(-kInfinity), -largest);
  EXPECT_EQ(grid.round(1e300), largest);
  EXPECT_EQ(grid.steps(-1e300), -(std::int64_t{1} << 62));
  EXPECT_GE(largest, 0x1p32);
}

TEST(Grid, RefusesScalesItCannotServe) {
  EXPECT_EQ(testing::input_error_of([] { grid_of(1.0, 1e300); }),
            "Test: expected 1e-200 <= noise <= 1e+200, got noise=1e+300");
  EXPECT_EQ(testing::input_error_of([] { grid_of(1.0, 1.0).noise_steps("Test", 1e9); }),
            "Test: expected 1 <= noise in steps of the grid <= 4294967295, got noise in steps of the "
            "grid=1.6777216e+16");
}

TEST(Grid, ValuesAreRoundedAndWholeNoiseIsAdded) {
  const Grid grid("test", 1.0, 1.0);
  const double step = grid.step(), infinity = std::numeric_limits<double>::infinity();
  for (const double value : {0.0, 0.49, 0.5, 0.51, 1.5, 2.5, 1e6 + 0.5, 0x1p51 + 0.5, 0x1p52 - 0.5,
                             0x1p52 + 1, 0x1p53 + 2, 0x1p61, 0x1p62, 0x1p63, 1e200, infinity, std::nan("")}) {
    for (const double noise : {0.0, 1.0, 2.0, 12345.0, 0x1p40 + 1, 0x1p50}) {
      for (const double sign : {1.0, -1.0}) {
        EXPECT_EQ(grid.steps_of_both(value * step, sign * noise) * step,
                  grid.round(value * step) + sign * noise * step);
        EXPECT_EQ(grid.steps_of_both(-value * step, sign * noise) * step,
                  grid.round(-value * step) + sign * noise * step);
      }
    }
  }
}

TEST(Grid, OrdinaryValuesAreRoundedTheSameWay) {
  const Grid grid("test", 3.0, 0.7);
  const double step = grid.step();
  EXPECT_EQ(grid.most_ordinary(), 0x1p50 * step);
  for (const double value :
       {0.0, 0.49, 0.5, 0.51, 1.5, 2.5, 1e6 + 0.5, 0x1p40 + 0.5, 0x1p49 + 0.5, 0x1p50 - 0.25, 0x1p50}) {
    for (const double noise : {0.0, 1.0, -2.0, 12345.0, 0x1p40 + 1, -0x1p50}) {
      for (const double sign : {1.0, -1.0}) {
        EXPECT_EQ(grid.steps_of_ordinary(sign * value * step, noise),
                  grid.steps_of_both(sign * value * step, noise));
      }
    }
  }
}

}  // namespace
}  // namespace ration
