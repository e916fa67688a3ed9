#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "oracle/row_count.h"
#include "support/statistics.h"

namespace ration::testing {
namespace {

// Fails by chance with probability < 1e-9 (Kolmogorov-Smirnov, n = 1e4). Rounding to whole numbers moves the
// distribution function by at most 0.5 / (noise sqrt(2 pi)) = 0.0002; the threshold is 0.03.
TEST(NoisyRowCount, HasTheDeclaredNoise) {
  constexpr double kNoise = 1000;
  constexpr std::uint64_t kRows = 1'000'000;
  const auto filter = make_gdp_filter({1e6, 1e-6}, Relation::add_remove);
  std::vector<double> noise;
  for (int i = 0; i < 10'000; ++i) {
    const auto counted = noisy_row_count(kRows, kNoise, *filter, SecureRandom::for_this_thread());
    ASSERT_TRUE(counted);
    noise.push_back(*counted - static_cast<double>(kRows));
  }
  EXPECT_TRUE(follows_normal(noise, kNoise));
  EXPECT_FALSE(follows_normal(noise, kNoise * 2 / 3));
  EXPECT_FALSE(follows_normal(noise, kNoise * 3 / 2));
}

}  // namespace
}  // namespace ration::testing
