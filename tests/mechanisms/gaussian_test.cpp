#include "mechanisms/gaussian.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "mechanisms/laws.h"
#include "support/doubles.h"
#include "support/instruction_sets.h"

namespace ration {
namespace {

using testing::input_error_of;
using testing::SeededRandom;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::vector<double> released(const GaussianMechanism& mechanism, std::vector<double> sum,
                             std::uint64_t seed = 1) {
  SeededRandom random(seed);
  mechanism.add_noise(sum, random);
  return sum;
}

TEST(GaussianMechanism, EveryOutputLiesOnTheGrid) {
  const GaussianMechanism mechanism({.sensitivity = 0.3, .noise_multiplier = 1.7});
  std::vector<double> sum;
  for (int i = 0; i < 5000; ++i) sum.push_back(0.1 * i - 250.0 / 3);
  for (const double value : released(mechanism, sum)) {
    ASSERT_EQ(std::remainder(value, mechanism.grid().step()), 0.0);
  }
}

TEST(GaussianMechanism, ValuesThatRoundAlikeAreReleasedAlike) {
  const GaussianMechanism mechanism({});
  const double step = mechanism.grid().step();
  std::vector<double> on_grid;
  std::vector<double> nearby;
  for (int i = -50; i < 50; ++i) {
    on_grid.push_back(i * 1001 * step);
    nearby.push_back((i * 1001 + 0.4) * step);
  }
  EXPECT_EQ(released(mechanism, on_grid), released(mechanism, nearby));
}

// The worst case of rounding: every coordinate is just below half a step on one neighbour, just above on the
// other.
TEST(GaussianMechanism, NoiseCoversTheDriftOfRoundedNeighbours) {
  const double multiplier = 2.5;
  const GaussianMechanism mechanism({.sensitivity = 1.0, .noise_multiplier = multiplier});
  const Grid& grid = mechanism.grid();
  for (const int dimension : {1, 100, 1'000'000}) {
    const double each = 1.0 / std::sqrt(dimension);
    const double low = 0.499 * grid.step();
    const double high = std::ceil(each / grid.step()) * grid.step() + 0.501 * grid.step();
    const double before = std::sqrt(dimension) * (high - low);
    const double after = std::sqrt(dimension) * (grid.round(high) - grid.round(low));
    const double rounded_sensitivity = after - (before - 1.0);
    EXPECT_GT(rounded_sensitivity, 1.0 + 0.99 * std::sqrt(dimension) * grid.step());
    EXPECT_GE(mechanism.stddev(static_cast<std::size_t>(dimension)), multiplier * rounded_sensitivity);
  }
}

TEST(GaussianMechanism, TheDriftCostsNextToNothing) {
  const GaussianMechanism mechanism({.sensitivity = 1.0, .noise_multiplier = 2.0});
  EXPECT_LT(mechanism.stddev(1), 2.0 * (1 + 1e-7));
  EXPECT_LT(mechanism.stddev(1'000'000), 2.0 * (1 + 1e-4));
}

TEST(GaussianMechanism, NaNIsReleasedAsZeroAndInfinityAsTheLargestValue) {
  const GaussianMechanism mechanism({});
  EXPECT_EQ(released(mechanism, {std::nan(""), 1.0}), released(mechanism, {0.0, 1.0}));
  EXPECT_EQ(released(mechanism, {kInfinity}), released(mechanism, {1e200}));
  EXPECT_TRUE(std::isfinite(released(mechanism, {kInfinity})[0]));
}

// Blocks with a NaN or a huge value are rounded by other code, which must not show in the values beside it.
TEST(GaussianMechanism, AValueOutOfTheOrdinaryChangesNoOther) {
  const GaussianMechanism mechanism({.sensitivity = 0.3, .noise_multiplier = 1.7});
  std::vector<double> plain;
  for (int i = 0; i < 1500; ++i) plain.push_back(0.1 * i - 250.0 / 3);
  const std::vector<double> expected = released(mechanism, plain);
  const double step = mechanism.grid().step();
  for (const double odd :
       {std::nan(""), kInfinity, -kInfinity, 1e30, -1e300, 0x1p55 * step, -0x1.4p51 * step}) {
    std::vector<double> sum = plain;
    sum[700] = odd;
    const std::vector<float> floats(sum.begin(), sum.end());
    std::vector<double> of_floats(sum.size());
    SeededRandom random(1);
    mechanism.release_part(std::span<const float>(floats), floats.size(), 1, random, of_floats);
    const std::vector<double> of_doubles = released(mechanism, sum);
    for (std::size_t i = 0; i < sum.size(); ++i) {
      if (i == 700) continue;
      ASSERT_EQ(of_doubles[i], expected[i]);
      ASSERT_NEAR(of_floats[i], expected[i], 1e-5 + mechanism.grid().step());
    }
    EXPECT_TRUE(std::isfinite(of_doubles[700]) && std::isfinite(of_floats[700]));
    if (std::isnan(odd)) EXPECT_LT(std::fabs(of_floats[700]), 10);
    if (std::fabs(odd) < 1e20) EXPECT_NEAR(of_doubles[700], odd, 10 + 1e-15 * std::fabs(odd));
  }
}

TEST(GaussianMechanism, AnEmptySumIsAReleaseOfNothing) {
  EXPECT_TRUE(released(GaussianMechanism({}), {}).empty());
}

TEST(GaussianMechanism, PartsMakeUpTheWhole) {
  const GaussianMechanism mechanism({.sensitivity = 0.3, .noise_multiplier = 1.7});
  std::vector<double> sum;
  std::vector<float> floats;
  for (int i = 0; i < 5001; ++i) floats.push_back(0.1f * static_cast<float>(i) - 250.0f / 3);
  sum.assign(floats.begin(), floats.end());
  const std::vector<double> whole = released(mechanism, sum);
  std::vector<double> parts(5001), of_floats(5001);
  SeededRandom random(1), same_bits(1);
  for (std::size_t first = 0; first < 5001; first += 2048) {
    const std::size_t size = std::min<std::size_t>(2048, 5001 - first);
    mechanism.release_part(std::span<const double>(sum).subspan(first, size), 5001, 0.25, random,
                           std::span(parts).subspan(first, size));
    mechanism.release_part(std::span<const float>(floats).subspan(first, size), 5001, 0.25, same_bits,
                           std::span(of_floats).subspan(first, size));
  }
  for (std::size_t i = 0; i < 5001; ++i) {
    ASSERT_EQ(parts[i], 0.25 * whole[i]);
    ASSERT_EQ(of_floats[i], 0.25 * whole[i]);
  }
}

// Radius words of zeros: 64 bits end at 9.42 standard deviations, and ideal noise does not.
TEST(GaussianMechanism, NoTailIsCutOff) {
  const GaussianMechanism mechanism({.sensitivity = 1.0, .noise_multiplier = 2.0});
  std::vector<std::uint64_t> words(4, 0);
  words[1] = std::uint64_t{1} << 63;  // the angle: along the axis
  for (int i = 0; i < 12; ++i) words.push_back(0xfedcba9876543210);
  testing::ScriptedRandom random(words);
  std::vector<double> sum{0.0};
  mechanism.add_noise(sum, random);
  EXPECT_GT(std::fabs(sum[0]) / mechanism.stddev(1), 13);
}

TEST(GaussianMechanism, EventIsExactlyWhatWasAskedFor) {
  const GaussianMechanism mechanism({.sensitivity = 3.0, .noise_multiplier = 1.1});
  EXPECT_EQ(std::get<Event::Gaussian>(mechanism.event().node()).noise_multiplier, 1.1);
}

TEST(GaussianMechanism, RefusesBadOptions) {
  EXPECT_EQ(input_error_of([] { GaussianMechanism({.sensitivity = 1.0, .noise_multiplier = 0.0}); }),
            "GaussianMechanism: expected noise_multiplier > 0, got noise_multiplier=0");
  EXPECT_EQ(input_error_of([] { GaussianMechanism({.sensitivity = -1.0, .noise_multiplier = 1.0}); }),
            "GaussianMechanism: expected sensitivity > 0, got sensitivity=-1");
}

// A value, or its noise, that lies half way between two steps may go to either; nothing else may differ.
// Ordinary values, and those that take the slower way.
TEST(GaussianMechanism, ReleasesTheSameUnderEachInstructionSet) {
  const GaussianMechanism mechanism({.sensitivity = 0.3, .noise_multiplier = 1.7});
  for (const double special : {0.0, kInfinity, -1e300, std::nan("")}) {
    std::vector<double> sum;
    for (int i = 0; i < 3000; ++i) sum.push_back(0.1 * i - 250.0 / 3);
    sum[1500] = special;
    testing::expect_same_under_each_set([&] { return released(mechanism, sum); }, mechanism.grid().step());
  }
}

}  // namespace
}  // namespace ration
