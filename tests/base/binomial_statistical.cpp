#include <gtest/gtest.h>

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <cmath>
#include <vector>

#include "base/distributions.h"
#include "support/statistics.h"

namespace ration::testing {
namespace {

constexpr std::size_t kDraws = 200'000;

std::vector<double> binomial_pmf(std::uint64_t n, double p) {
  const boost::math::binomial distribution(static_cast<double>(n), p);
  std::vector<double> probabilities;
  for (std::uint64_t k = 0; k <= n; ++k) probabilities.push_back(pdf(distribution, static_cast<double>(k)));
  return probabilities;
}

struct Case {
  std::uint64_t n;
  double p;
};

// 10 and more expected successes (of the rarer kind) are drawn by rejection, fewer by counting gaps.
class Binomial : public ::testing::TestWithParam<Case> {};

// Fails by chance with probability < 1e-9 for each case.
TEST_P(Binomial, HasTheDeclaredProbabilities) {
  const auto [n, p] = GetParam();
  std::vector<std::uint64_t> counts(n + 1);
  for (std::size_t i = 0; i < kDraws; ++i) ++counts[binomial(SecureRandom::for_this_thread(), n, p)];
  EXPECT_TRUE(follows_pmf(counts, binomial_pmf(n, p)));
  const double rarer = std::min(p, 1 - p);
  for (const double wrong : {rarer / 1.5, rarer * 1.5}) {
    EXPECT_FALSE(follows_pmf(counts, binomial_pmf(n, p <= 0.5 ? wrong : 1 - wrong))) << wrong;
  }
}

INSTANTIATE_TEST_SUITE_P(SmallAndLargeMeans, Binomial,
                         ::testing::Values(Case{1, 0.3}, Case{20, 0.3}, Case{20, 0.499}, Case{20, 0.5},
                                           Case{25, 0.45}, Case{60, 0.5}, Case{100, 0.1}, Case{100, 0.95},
                                           Case{150, 0.7}, Case{200, 0.001}, Case{300, 0.06}));

// Bands of half a standard deviation; the normal approximation errs by less than 1e-6 for each of these
// cases.
std::vector<double> band_probabilities(double scale) {
  std::vector<double> probabilities;
  double below = 0;
  for (double edge = -3; edge <= 3; edge += 0.5) {
    const double up_to = 0.5 * std::erfc(-edge / scale / std::sqrt(2.0));
    probabilities.push_back(up_to - below);
    below = up_to;
  }
  probabilities.push_back(1 - below);
  return probabilities;
}

// Fails by chance with probability < 3e-9. The mean is tested too: a shift by a twentieth of the scale is
// rejected.
TEST(LargeBinomial, IsNormalWithTheRightMeanAndScale) {
  const std::uint64_t n = 1'000'000'000'000;
  for (const double p : {0.3, 0.5, 0.9}) {
    const double mean = static_cast<double>(n) * p;
    const double stddev = std::sqrt(mean * (1 - p));
    std::vector<std::uint64_t> counts(14);
    std::vector<std::uint64_t> shifted(14);
    for (std::size_t i = 0; i < kDraws; ++i) {
      const double k = static_cast<double>(binomial(SecureRandom::for_this_thread(), n, p));
      const double z = (k + 0.5 - mean) / stddev;
      ++counts[static_cast<std::size_t>(std::clamp(std::ceil(2 * z + 6), 0.0, 13.0))];
      ++shifted[static_cast<std::size_t>(std::clamp(std::ceil(2 * (z + 0.05) + 6), 0.0, 13.0))];
    }
    EXPECT_TRUE(follows_pmf(counts, band_probabilities(1))) << p;
    EXPECT_FALSE(follows_pmf(shifted, band_probabilities(1))) << p;
    EXPECT_FALSE(follows_pmf(counts, band_probabilities(2.0 / 3))) << p;
    EXPECT_FALSE(follows_pmf(counts, band_probabilities(1.5))) << p;
  }
}

// Few successes in very many trials: Poisson of mean 3 within 1e-11. Fails by chance with probability < 1e-9.
TEST(LargeBinomial, IsPoissonForRareSuccesses) {
  std::vector<std::uint64_t> counts(40);
  for (std::size_t i = 0; i < kDraws; ++i) {
    ++counts[std::min<std::uint64_t>(binomial(SecureRandom::for_this_thread(), 1'000'000'000'000, 3e-12),
                                     39)];
  }
  const auto poisson = [](double mean) {
    std::vector<double> probabilities{std::exp(-mean)};
    for (double k = 1; k < 40; ++k) probabilities.push_back(probabilities.back() * mean / k);
    return probabilities;
  };
  EXPECT_TRUE(follows_pmf(counts, poisson(3)));
  EXPECT_FALSE(follows_pmf(counts, poisson(2)));
  EXPECT_FALSE(follows_pmf(counts, poisson(4.5)));
}

}  // namespace
}  // namespace ration::testing
