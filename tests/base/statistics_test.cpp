// The helpers themselves: a helper that accepts everything would make every statistical test worthless.
#include "support/statistics.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace ration::testing {
namespace {

template <class Distribution>
std::vector<double> sample(Distribution distribution, std::size_t count = 2000) {
  std::mt19937_64 engine(5);
  std::vector<double> values(count);
  for (auto& x : values) x = distribution(engine);
  return values;
}

TEST(Follows, TellsTheRightScaleFromTheWrong) {
  const auto normal = sample(std::normal_distribution<>(0, 3));
  EXPECT_TRUE(follows_normal(normal, 3));
  EXPECT_FALSE(follows_normal(normal, 2));
  EXPECT_FALSE(follows_normal(normal, 4.5));
  const auto exponential = sample(std::exponential_distribution<>(1.0 / 3));
  EXPECT_TRUE(follows_exponential(exponential, 3));
  EXPECT_FALSE(follows_exponential(exponential, 2));
  EXPECT_FALSE(follows_exponential(exponential, 4.5));
  auto laplace = exponential;
  for (std::size_t i = 0; i < laplace.size(); i += 2) laplace[i] *= -1;
  EXPECT_TRUE(follows_laplace(laplace, 3));
  EXPECT_FALSE(follows_laplace(laplace, 2));
  EXPECT_FALSE(follows_laplace(laplace, 4.5));
}

TEST(Follows, TellsOneDistributionFromAnother) {
  const auto normal = sample(std::normal_distribution<>(0, 1), 20'000);
  EXPECT_FALSE(follows_laplace(normal, std::sqrt(0.5)));
  EXPECT_FALSE(follows_exponential(normal, 1));
  EXPECT_FALSE(follows_uniform(normal));
}

TEST(Follows, RejectsWhatIsNotFinite) {
  auto normal = sample(std::normal_distribution<>(0, 1));
  normal[7] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(follows_normal(normal, 1));
}

TEST(Follows, RefusesAnEmptySample) {
  EXPECT_THROW(follows_normal({}, 1), std::invalid_argument);
}

using Counts = std::vector<std::uint64_t>;
using Cells = std::vector<double>;

TEST(FollowsPmf, TellsRightFromWrong) {
  const Counts counts{5030, 2980, 1990};
  EXPECT_TRUE(follows_pmf(counts, Cells{0.5, 0.3, 0.2}));
  EXPECT_FALSE(follows_pmf(counts, Cells{0.4, 0.4, 0.2}));
}

TEST(FollowsPmf, RejectsACountWhereNoneCanBe) {
  EXPECT_FALSE(follows_pmf(Counts{1'000'000, 1}, Cells{1, 0}));
  EXPECT_TRUE(follows_pmf(Counts{1'000'000, 0}, Cells{1, 0}));
}

TEST(FollowsPmf, RefusesCellsThatDoNotCoverEverything) {
  EXPECT_THROW(follows_pmf(Counts{1, 1}, Cells{0.5, 0.4}), std::invalid_argument);
  EXPECT_THROW(follows_pmf(Counts{1, 1}, Cells{1}), std::invalid_argument);
}

// The bound is what its source says: over 1000 right samples of 3 cells, none is rejected.
TEST(FollowsPmf, AcceptsRightCounts) {
  std::mt19937_64 engine(5);
  std::discrete_distribution<std::size_t> cell{1, 2, 7};
  for (int repeat = 0; repeat < 1000; ++repeat) {
    Counts counts(3);
    for (int i = 0; i < 500; ++i) ++counts[cell(engine)];
    EXPECT_TRUE(follows_pmf(counts, Cells{0.1, 0.2, 0.7}));
  }
}

TEST(MeanIs, TellsRightFromWrong) {
  const auto normal = sample(std::normal_distribution<>(2, 1), 100'000);
  EXPECT_TRUE(mean_is(normal, 2, 1));
  EXPECT_FALSE(mean_is(normal, 2.05, 1));
}

}  // namespace
}  // namespace ration::testing
