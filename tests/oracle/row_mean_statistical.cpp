#include <gtest/gtest.h>

#include <vector>

#include "oracle/row_mean.h"
#include "support/statistics.h"

namespace ration::testing {
namespace {

// Fails by chance with probability < 1e-9 each (Kolmogorov-Smirnov, n = 2e4); twice the noise under
// replace_one.
TEST(NoisyRowMean, HasTheDeclaredNoise) {
  constexpr std::size_t kColumns = 20'000;
  constexpr double kBound = 3, kNoise = 5, kDeclared = 10;
  for (const Relation relation : {Relation::add_remove, Relation::replace_one}) {
    const auto filter = make_gdp_filter({1e6, 1e-6}, relation);
    const Rows rows = Rows::dense(kColumns, std::vector<double>(kColumns, 0.0), {0});
    const auto mean = noisy_row_mean(rows, {.bound = kBound, .noise_multiplier = kNoise}, kDeclared, relation,
                                     *filter, SecureRandom::for_this_thread());
    ASSERT_TRUE(mean);
    const double expected = (relation == Relation::add_remove ? 1 : 2) * kBound * kNoise / kDeclared;
    EXPECT_TRUE(follows_normal(*mean, expected));
    EXPECT_FALSE(follows_normal(*mean, expected * 2 / 3));
    EXPECT_FALSE(follows_normal(*mean, expected * 3 / 2));
  }
}

}  // namespace
}  // namespace ration::testing
