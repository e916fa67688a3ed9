#include "base/index_sampling.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ration/base/error.h"
#include "support/doubles.h"

namespace ration::testing {
namespace {

using ::testing::StrEq;
using ::testing::ThrowsMessage;
using Rows = std::vector<std::uint64_t>;

constexpr std::uint64_t kTrillion = 1'000'000'000'000;

Rows poisson(std::uint64_t rows, double rate) {
  static SeededRandom random(11);
  Rows out{123};  // what was there before must go
  sample_poisson(random, rows, rate, out);
  return out;
}

Rows subset(std::uint64_t rows, std::uint64_t size) {
  static SeededRandom random(12);
  Rows out{123};
  sample_subset(random, rows, size, out);
  return out;
}

Rows all(std::uint64_t rows) {
  Rows out(rows);
  std::iota(out.begin(), out.end(), std::uint64_t{0});
  return out;
}

bool strictly_increasing_below(const Rows& rows, std::uint64_t end) {
  return std::adjacent_find(rows.begin(), rows.end(), std::greater_equal<>()) == rows.end() &&
         (rows.empty() || rows.back() < end);
}

TEST(SamplePoisson, DrawsNoneOrAllAtTheEnds) {
  EXPECT_EQ(poisson(1000, 0), Rows{});
  EXPECT_EQ(poisson(1000, 1), all(1000));
  EXPECT_EQ(poisson(0, 0.5), Rows{});
  EXPECT_EQ(poisson(0, 1), Rows{});
  EXPECT_EQ(poisson(1000, 1 - 0x1p-53), all(1000));
  EXPECT_EQ(poisson(kTrillion, 1e-300), Rows{});
  EXPECT_EQ(poisson(kTrillion, 5e-324), Rows{});
}

TEST(SamplePoisson, RowsAreIncreasingAndInRange) {
  for (const double rate : {0.001, 0.1, 0.5, 0.99}) {
    for (int repeat = 0; repeat < 50; ++repeat) {
      EXPECT_TRUE(strictly_increasing_below(poisson(2000, rate), 2000));
      EXPECT_TRUE(strictly_increasing_below(poisson(3, rate), 3));
    }
  }
  EXPECT_TRUE(strictly_increasing_below(poisson(kTrillion, 1e-8), kTrillion));
}

TEST(SamplePoisson, TheFirstAndTheLastRowCanBeDrawn) {
  Rows seen(3);
  for (int repeat = 0; repeat < 200; ++repeat) {
    for (const auto row : poisson(3, 0.5)) ++seen[row];
  }
  for (const auto count : seen) EXPECT_GT(count, 0u);
}

// Counted in random words, since a clock on a busy machine says little; bench/random_bench.cpp has the times.
TEST(SamplePoisson, CostsTheRowsDrawnNotTheRows) {
  for (const std::uint64_t rows : {std::uint64_t{100'000}, std::uint64_t{1'000'000'000}, kTrillion}) {
    CountingRandom random(1);
    Rows out;
    sample_poisson(random, rows, 10'000 / static_cast<double>(rows), out);
    EXPECT_NEAR(static_cast<double>(out.size()), 10'000, 700);
    EXPECT_LE(random.words_generated(), out.size() + 257) << rows;
  }
}

TEST(SamplePoisson, AFewRowsCostFewWords) {
  CountingRandom random(1);
  Rows out;
  for (int repeat = 0; repeat < 100; ++repeat) sample_poisson(random, kTrillion, 1e-12, out);
  EXPECT_LT(random.words_generated(), 2000u);
}

TEST(SamplePoisson, AllocatesNothingWithinTheCapacity) {
  SeededRandom random(1);
  Rows out;
  out.reserve(2000);
  const auto* before = out.data();
  for (int repeat = 0; repeat < 100; ++repeat) sample_poisson(random, 1'000'000, 0.001, out);
  EXPECT_EQ(out.data(), before);
  EXPECT_EQ(out.capacity(), 2000u);
}

TEST(SamplePoisson, RefusesWhatIsNoRate) {
  SeededRandom random(1);
  Rows out;
  EXPECT_THAT([&] { sample_poisson(random, 10, 1.5, out); },
              ThrowsMessage<InputError>(StrEq("sample_poisson: expected 0 <= rate <= 1, got rate=1.5")));
  EXPECT_THROW(sample_poisson(random, 10, std::nan(""), out), InputError);
  EXPECT_THROW(sample_poisson(random, ~std::uint64_t{0}, 0.5, out), InputError);
}

TEST(SampleSubset, DrawsNoneOrAllAtTheEnds) {
  EXPECT_EQ(subset(0, 0), Rows{});
  EXPECT_EQ(subset(10, 0), Rows{});
  EXPECT_EQ(subset(1, 1), all(1));
  EXPECT_EQ(subset(1000, 1000), all(1000));
}

TEST(SampleSubset, HasTheSizeAndIsIncreasingAndInRange) {
  for (std::uint64_t rows = 0; rows < 40; ++rows) {
    for (std::uint64_t size = 0; size <= rows; ++size) {
      const auto drawn = subset(rows, size);
      ASSERT_EQ(drawn.size(), size);
      ASSERT_TRUE(strictly_increasing_below(drawn, rows));
    }
  }
  const auto drawn = subset(kTrillion, 5000);
  EXPECT_EQ(drawn.size(), 5000u);
  EXPECT_TRUE(strictly_increasing_below(drawn, kTrillion));
}

TEST(SampleSubset, CostsTheRowsDrawnNotTheRows) {
  CountingRandom random(1);
  Rows out;
  sample_subset(random, kTrillion, 10'000, out);
  EXPECT_LT(random.words_generated(), 11'000u);
  sample_subset(random, 20'000, 10'000, out);  // the densest: many rows come up twice
  EXPECT_LT(random.words_generated(), 11'000u + 16'000u);
}

TEST(SampleSubset, RefusesMoreRowsThanThereAre) {
  SeededRandom random(1);
  Rows out;
  EXPECT_THAT([&] { sample_subset(random, 10, 11, out); },
              ThrowsMessage<InputError>(StrEq("sample_subset: expected 0 <= size <= 10, got size=11")));
}

}  // namespace
}  // namespace ration::testing
