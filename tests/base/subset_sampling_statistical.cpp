#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "base/index_sampling.h"
#include "support/statistics.h"

namespace ration::testing {
namespace {

using Rows = std::vector<std::uint64_t>;

// How often each subset of 7 rows came up, whichever came up at all.
std::vector<std::uint64_t> subset_counts(std::uint64_t size) {
  std::map<Rows, std::uint64_t> times;
  Rows drawn;
  for (int i = 0; i < 200'000; ++i) {
    sample_subset(SecureRandom::for_this_thread(), 7, size, drawn);
    ++times[drawn];
  }
  std::vector<std::uint64_t> counts;
  for (const auto& [rows, count] : times) counts.push_back(count);
  return counts;
}

bool equally_likely(const std::vector<std::uint64_t>& counts) {
  return follows_pmf(counts, std::vector<double>(counts.size(), 1 / static_cast<double>(counts.size())));
}

// Fails by chance with probability < 1e-9 for each size. Few rows are drawn, many by leaving out the others.
TEST(SampleSubset, EverySetIsEquallyLikely) {
  const std::size_t sets[] = {1, 7, 21, 35, 35, 21, 7};
  for (std::uint64_t size = 1; size < 7; ++size) {
    const auto counts = subset_counts(size);
    ASSERT_EQ(counts.size(), sets[size]);
    EXPECT_TRUE(equally_likely(counts)) << size;
    auto skewed = counts;
    skewed[0] += skewed[0] / 2;
    EXPECT_FALSE(equally_likely(skewed)) << size;
  }
}

// Fails by chance with probability < 1e-9; drawing without replacement only makes the sample more even.
TEST(SampleSubset, IsSpreadEvenlyOverManyRows) {
  Rows drawn;
  sample_subset(SecureRandom::for_this_thread(), 1'000'000'000, 100'000, drawn);
  std::vector<double> places;
  for (const auto row : drawn) places.push_back(static_cast<double>(row) / 1e9);
  EXPECT_TRUE(follows_uniform(places));
  EXPECT_FALSE(follows(places, [](double x) { return x / 1.5; }));
}

}  // namespace
}  // namespace ration::testing
