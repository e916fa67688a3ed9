#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numbers>
#include <vector>

#include "base/distributions.h"
#include "support/statistics.h"

namespace ration::testing {
namespace {

constexpr std::size_t kDraws = 200'001;  // odd: the last value has its own way

std::vector<double> filled(std::size_t count, double stddev) {
  std::vector<double> sample(count);
  fill_gaussian(SecureRandom::for_this_thread(), sample, stddev);
  return sample;
}

// Each fails by chance with probability < 1e-9 (Kolmogorov-Smirnov, n = 2e5).
TEST(FillGaussian, HasTheDeclaredScale) {
  const auto sample = filled(kDraws, 3);
  EXPECT_TRUE(follows_normal(sample, 3));
  EXPECT_FALSE(follows_normal(sample, 2));
  EXPECT_FALSE(follows_normal(sample, 4.5));
}

TEST(StandardGaussian, IsStandard) {
  std::vector<double> sample(kDraws);
  for (auto& x : sample) x = standard_gaussian(SecureRandom::for_this_thread());
  EXPECT_TRUE(follows_normal(sample, 1));
  EXPECT_FALSE(follows_normal(sample, 2.0 / 3));
  EXPECT_FALSE(follows_normal(sample, 1.5));
}

// The ends of many short fills, where a block is not full. Fails by chance with probability < 1e-9.
TEST(FillGaussian, ShortFillsHaveTheDeclaredScale) {
  std::vector<double> ends;
  for (std::size_t size = 1; size <= 2100; ++size) {
    for (int repeat = 0; repeat < 10; ++repeat) ends.push_back(filled(size, 3).back());
  }
  EXPECT_TRUE(follows_normal(ends, 3));
  EXPECT_FALSE(follows_normal(ends, 2));
  EXPECT_FALSE(follows_normal(ends, 4.5));
}

double beyond(double z) {
  return std::erfc(z / std::numbers::sqrt2);
}

std::array<double, 3> tail_cells(double stddev) {
  return {1 - beyond(4 / stddev), beyond(4 / stddev) - beyond(5 / stddev), beyond(5 / stddev)};
}

// 1e8 draws: about 6334 beyond 4 and 57 beyond 5 standard deviations. Fails by chance with probability <
// 1e-9; a sampler whose tail ends at 5 is rejected.
TEST(FillGaussian, HasTheTailsThatPrivacyNeeds) {
  std::array<std::uint64_t, 3> counts{};
  std::vector<double> sample(10'000);
  for (int repeat = 0; repeat < 10'000; ++repeat) {
    fill_gaussian(SecureRandom::for_this_thread(), sample, 1);
    for (const double x : sample) counts[1] += std::abs(x) > 4 ? 1 : 0;
    for (const double x : sample) counts[2] += std::abs(x) > 5 ? 1 : 0;
  }
  counts[1] -= counts[2];
  counts[0] = 100'000'000 - counts[1] - counts[2];
  EXPECT_TRUE(follows_pmf(counts, tail_cells(1)));
  EXPECT_FALSE(follows_pmf(counts, tail_cells(2.0 / 3)));
  EXPECT_FALSE(follows_pmf(counts, tail_cells(1.5)));
  const std::array<std::uint64_t, 3> cut_at_five{counts[0] + counts[2], counts[1], 0};
  EXPECT_FALSE(follows_pmf(cut_at_five, tail_cells(1)));
}

std::vector<double> power(const std::vector<double>& sample, int exponent) {
  std::vector<double> powers;
  for (const double x : sample) powers.push_back(std::pow(x, exponent));
  return powers;
}

// Each fails by chance with probability about 1e-9; n = 4e6, where the normal approximation holds for a 4th
// power.
TEST(FillGaussian, HasTheRightMoments) {
  const auto sample = filled(4'000'000, 1);
  EXPECT_TRUE(mean_is(sample, 0, 1));
  EXPECT_TRUE(mean_is(power(sample, 2), 1, std::sqrt(2.0)));
  EXPECT_TRUE(mean_is(power(sample, 3), 0, std::sqrt(15.0)));
  EXPECT_TRUE(mean_is(power(sample, 4), 3, std::sqrt(96.0)));
  EXPECT_FALSE(mean_is(power(filled(4'000'000, 1.01), 2), 1, std::sqrt(2.0)));
}

std::vector<double> standardised_squares(const std::vector<double>& sample) {
  std::vector<double> squares;
  for (const double x : sample) squares.push_back((x * x - 1) / std::numbers::sqrt2);
  return squares;
}

bool uncorrelated_at(const std::vector<double>& sample, std::size_t lag) {
  return uncorrelated(std::span(sample).first(sample.size() - lag), std::span(sample).subspan(lag));
}

// Fails by chance with probability about 8e-9. Neighbours, members of one pair (512 apart in a block of 1024)
// and neighbouring blocks; the squares would show a shared radius.
TEST(FillGaussian, ValuesAreUncorrelatedAndSoAreTheirSquares) {
  const auto sample = filled(1 << 20, 1);
  const auto squares = standardised_squares(sample);
  for (const std::size_t lag : {1u, 2u, 512u, 1024u}) {
    EXPECT_TRUE(uncorrelated_at(sample, lag)) << lag;
    EXPECT_TRUE(uncorrelated_at(squares, lag)) << lag;
  }
}

// The members of one pair, every pair: x1 x2 and the quadrants. Fails by chance with probability about 3e-9.
TEST(FillGaussian, TheTwoMembersOfAPairAreIndependent) {
  std::vector<double> first;
  std::vector<double> second;
  std::array<std::uint64_t, 8> octants{};
  for (int repeat = 0; repeat < 200'000; ++repeat) {
    std::array<double, 2> pair;
    fill_gaussian(SecureRandom::for_this_thread(), pair, 1);
    first.push_back(pair[0]);
    second.push_back(pair[1]);
    ++octants[(pair[0] > 0 ? 1 : 0) + (pair[1] > 0 ? 2 : 0) +
              (std::abs(pair[0]) > std::abs(pair[1]) ? 4 : 0)];
  }
  EXPECT_TRUE(uncorrelated(first, second));
  EXPECT_TRUE(uncorrelated(standardised_squares(first), standardised_squares(second)));
  EXPECT_TRUE(follows_pmf(octants, std::vector<double>(8, 1.0 / 8)));
}

}  // namespace
}  // namespace ration::testing
