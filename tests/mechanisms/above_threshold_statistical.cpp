#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "mechanisms/search_law.h"
#include "ration/base/random.h"
#include "ration/mechanisms/above_threshold.h"
#include "support/statistics.h"

namespace ration {
namespace {

using testing::first_above_law;
using testing::follows_pmf;
using testing::noise_of;

constexpr double kThreshold = 3.0;
const std::vector<double> kQueries = {-4.0, 0.0, 1.0, -2.0, 2.0, 2.0, 5.0, -1.0};

std::vector<std::uint64_t> first_above_counts(const AboveThresholdOptions& options,
                                              const std::vector<double>& queries, int searches) {
  std::vector<std::uint64_t> counts(queries.size() + 1);
  for (int i = 0; i < searches; ++i) {
    AboveThreshold search(options, SecureRandom::for_this_thread());
    std::size_t asked = 0;
    while (asked < queries.size() && !search.above(queries[asked])) ++asked;
    ++counts[asked];
  }
  return counts;
}

class FirstAbove : public ::testing::TestWithParam<AboveThresholdOptions> {};

// Fails by chance with probability < 1e-9 (likelihood ratio, n = 1e5).
TEST_P(FirstAbove, IsDistributedAsTheIntegralSays) {
  const auto counts = first_above_counts(GetParam(), kQueries, 100'000);
  const auto noise = noise_of(GetParam());
  const auto law_with = [&](double threshold_factor, double query_factor) {
    return first_above_law(kQueries, kThreshold,
                           {noise.gaussian, noise.threshold * threshold_factor, noise.query * query_factor});
  };
  EXPECT_TRUE(follows_pmf(counts, law_with(1, 1)));
  for (const double factor : {2.0 / 3, 1.5}) {
    EXPECT_FALSE(follows_pmf(counts, law_with(factor, factor)));
    EXPECT_FALSE(follows_pmf(counts, law_with(factor, 1)));
    EXPECT_FALSE(follows_pmf(counts, law_with(1, factor)));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Forms, FirstAbove,
    ::testing::Values(
        AboveThresholdOptions{.threshold = kThreshold,
                              .sensitivity = 0.5,
                              .noise = LaplaceSearch{.threshold_epsilon = 0.25, .query_epsilon = 0.5}},
        AboveThresholdOptions{.threshold = kThreshold,
                              .sensitivity = 2.0,
                              .noise = GaussianSearch{.threshold_noise = 1.0, .query_noise = 0.8}}));

// One noisy threshold serves all queries, so any number of refusals costs threshold_epsilon: a factor of
// e^(1/2) = 1.65 here. A threshold drawn anew for each query would show a factor of 2.2 after these 30. Fails
// by chance with probability < 1e-9 (both counts exceed 10'000, so 10% are five standard deviations beyond
// the bound itself).
TEST(AboveThreshold, ManyRefusalsCostNoMoreThanOneThreshold) {
  const auto noise = LaplaceSearch::with_epsilon(1.0);
  const AboveThresholdOptions options{.sensitivity = 1.0, .noise = noise};
  const auto refused = [&](double level) {
    return static_cast<double>(first_above_counts(options, std::vector<double>(30, level), 100'000).back());
  };
  const double before = refused(-8.0);
  const double after = refused(-7.0);
  EXPECT_GT(after, 10'000.0);
  EXPECT_LE(before, 1.1 * std::exp(noise.threshold_epsilon) * after);
}

}  // namespace
}  // namespace ration
