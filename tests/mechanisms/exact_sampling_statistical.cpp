#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>

#include "mechanisms/exact_sampling.h"
#include "mechanisms/laws.h"
#include "ration/base/random.h"
#include "support/statistics.h"

// Each check fails by chance with probability < 1e-9 (likelihood ratio, n = 3e4).
namespace ration::exact {
namespace {

using testing::follows_pmf;
using testing::integer_counts;
using testing::integer_law;
using testing::Law;

constexpr int kDraws = 30'000;

template <class Draw>
bool comes_true_with(double probability, Draw draw) {
  std::array<std::uint64_t, 2> counts{};
  for (int i = 0; i < kDraws; ++i) ++counts[draw() ? 1 : 0];
  return follows_pmf(counts, Law{1 - probability, probability});
}

TEST(ExactSampling, BernoulliOfAFraction) {
  auto& random = SecureRandom::for_this_thread();
  const Wide huge = Wide(1) << 430;
  EXPECT_TRUE(comes_true_with(1.0 / 3, [&] { return bernoulli(random, 1, 3); }));
  EXPECT_TRUE(comes_true_with(0.75, [&] { return bernoulli(random, Wide(3 * huge), Wide(4 * huge)); }));
  EXPECT_FALSE(comes_true_with(0.5, [&] { return bernoulli(random, 1, 3); }));
  EXPECT_TRUE(bernoulli(random, 5, 5));
  EXPECT_FALSE(bernoulli(random, 0, 5));
}

TEST(ExactSampling, BernoulliOfAnExponential) {
  auto& random = SecureRandom::for_this_thread();
  for (const std::uint64_t tenths : {0U, 3U, 10U, 11U, 27U, 50U}) {
    const double probability = std::exp(-static_cast<double>(tenths) / 10);
    EXPECT_TRUE(
        comes_true_with(probability, [&] { return bernoulli_exp(random, tenths, std::uint64_t{10}); }));
    EXPECT_TRUE(comes_true_with(probability, [&] { return bernoulli_exp(random, Wide(tenths), Wide(10)); }));
  }
}

Law geometric_law(double scale, int reach) {
  return integer_law(reach, [=](int k) { return k < 0 ? 1e4 : k / scale; });
}

TEST(ExactSampling, Geometric) {
  auto& random = SecureRandom::for_this_thread();
  for (const std::uint64_t scale : {1U, 4U}) {
    const int reach = 30 * static_cast<int>(scale);
    const auto s = static_cast<double>(scale);
    const auto counts =
        integer_counts(reach, kDraws, [&] { return static_cast<std::int64_t>(geometric(random, scale)); });
    EXPECT_TRUE(follows_pmf(counts, geometric_law(s, reach)));
    EXPECT_FALSE(follows_pmf(counts, geometric_law(s * 2 / 3, reach)));
    EXPECT_FALSE(follows_pmf(counts, geometric_law(s * 3 / 2, reach)));
  }
}

Law discrete_laplace_law(double scale, int reach) {
  return integer_law(reach, [=](int k) { return std::abs(k) / scale; });
}

// P[real Laplace lies within half of k]
Law rounded_laplace_law(double scale, int reach) {
  return integer_law(reach, [=](int k) {
    return -std::log(testing::laplace_cdf((k + 0.5) / scale) - testing::laplace_cdf((k - 0.5) / scale));
  });
}

TEST(ExactSampling, DiscreteLaplaceAndRoundedLaplaceAreNotTheSame) {
  auto& random = SecureRandom::for_this_thread();
  for (const std::uint64_t scale : {1U, 4U}) {
    const int reach = 12 * static_cast<int>(scale);  // the rest, exp(-12), is put on the ends
    const auto s = static_cast<double>(scale);
    const auto discrete = integer_counts(reach, kDraws, [&] { return discrete_laplace(random, scale); });
    const auto rounded = integer_counts(reach, kDraws, [&] { return rounded_laplace(random, scale); });
    EXPECT_TRUE(follows_pmf(discrete, discrete_laplace_law(s, reach)));
    EXPECT_TRUE(follows_pmf(rounded, rounded_laplace_law(s, reach)));
    EXPECT_FALSE(follows_pmf(discrete, discrete_laplace_law(s * 2 / 3, reach)));
    EXPECT_FALSE(follows_pmf(rounded, rounded_laplace_law(s * 3 / 2, reach)));
  }
  const auto narrow = integer_counts(12, kDraws, [&] { return rounded_laplace(random, 1); });
  EXPECT_FALSE(follows_pmf(narrow, discrete_laplace_law(1, 12)));
}

}  // namespace
}  // namespace ration::exact
