#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <boost/math/distributions/binomial.hpp>
#include <cmath>
#include <vector>

#include "base/index_sampling.h"
#include "support/statistics.h"

namespace ration::testing {
namespace {

constexpr std::size_t kRepeats = 100'000;
using Rows = std::vector<std::uint64_t>;

std::vector<double> binomial_pmf(std::uint64_t n, double p) {
  const boost::math::binomial distribution(static_cast<double>(n), p);
  std::vector<double> probabilities;
  for (std::uint64_t k = 0; k <= n; ++k) probabilities.push_back(pdf(distribution, static_cast<double>(k)));
  return probabilities;
}

class SamplePoisson : public ::testing::TestWithParam<double> {
 protected:
  static constexpr std::uint64_t kRows = 13;
  const Rows& draw() {
    sample_poisson(SecureRandom::for_this_thread(), kRows, GetParam(), drawn_);
    return drawn_;
  }
  Rows drawn_;
};

// Fails by chance with probability < 1e-9 for each rate. Wrong rates: 2/3 and 3/2 of it, or of its distance
// from 1.
TEST_P(SamplePoisson, TheNumberOfRowsIsBinomial) {
  Rows counts(kRows + 1);
  for (std::size_t i = 0; i < kRepeats; ++i) ++counts[draw().size()];
  const double rate = GetParam();
  EXPECT_TRUE(follows_pmf(counts, binomial_pmf(kRows, rate)));
  for (const double factor : {2.0 / 3, 1.5}) {
    const double wrong = rate <= 0.5 ? factor * rate : 1 - factor * (1 - rate);
    EXPECT_FALSE(follows_pmf(counts, binomial_pmf(kRows, wrong))) << factor;
  }
}

// Fails by chance with probability < 13e-9 for each rate: every row alone, the first and the last like the
// others.
TEST_P(SamplePoisson, EveryRowIsInWithTheRate) {
  Rows times(kRows);
  for (std::size_t i = 0; i < kRepeats; ++i) {
    for (const auto row : draw()) ++times[row];
  }
  for (std::uint64_t row = 0; row < kRows; ++row) {
    const std::array counts{times[row], kRepeats - times[row]};
    EXPECT_TRUE(follows_pmf(counts, std::array{GetParam(), 1 - GetParam()})) << row;
  }
}

// Fails by chance with probability < 12e-9 for each rate: neither, the first, the second or both of two
// neighbours.
TEST_P(SamplePoisson, NeighboursAreIndependent) {
  std::array<std::array<std::uint64_t, 4>, kRows - 1> counts{};
  for (std::size_t i = 0; i < kRepeats; ++i) {
    std::array<bool, kRows> in{};
    for (const auto row : draw()) in[row] = true;
    for (std::size_t row = 0; row + 1 < kRows; ++row)
      ++counts[row][(in[row] ? 1 : 0) + (in[row + 1] ? 2 : 0)];
  }
  const double p = GetParam();
  const std::array cells{(1 - p) * (1 - p), p * (1 - p), (1 - p) * p, p * p};
  for (const auto& pair : counts) EXPECT_TRUE(follows_pmf(pair, cells));
}

INSTANTIATE_TEST_SUITE_P(Rates, SamplePoisson, ::testing::Values(0.01, 0.1, 0.5, 0.9, 0.99));

std::vector<double> gaps(const Rows& rows) {
  std::vector<double> result;
  for (std::size_t i = 1; i < rows.size(); ++i) result.push_back(static_cast<double>(rows[i] - rows[i - 1]));
  return result;
}

// Fails by chance with probability < 3e-9; the gaps' whole numbers change their distribution by less than
// 1e-7.
TEST(SampleOfATrillion, HasTheRateAndIsSpreadEvenly) {
  const double rows = 1e12;
  const double rate = 1e-7;
  Rows drawn;
  sample_poisson(SecureRandom::for_this_thread(), 1'000'000'000'000, rate, drawn);
  EXPECT_NEAR(static_cast<double>(drawn.size()), rows * rate, 6.2 * std::sqrt(rows * rate));
  EXPECT_TRUE(follows_exponential(gaps(drawn), 1 / rate));
  EXPECT_FALSE(follows_exponential(gaps(drawn), 1 / rate / 1.5));
  EXPECT_FALSE(follows_exponential(gaps(drawn), 1 / rate * 1.5));
  std::vector<double> places;
  for (const auto row : drawn) places.push_back(static_cast<double>(row) / rows);
  EXPECT_TRUE(follows_uniform(places));
}

}  // namespace
}  // namespace ration::testing
