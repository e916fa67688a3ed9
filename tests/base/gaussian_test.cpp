#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "base/bits_to_reals.h"
#include "base/distributions.h"
#include "ration/base/error.h"
#include "support/doubles.h"
#include "support/instruction_sets.h"

namespace ration::testing {
namespace {

using ::testing::StrEq;
using ::testing::ThrowsMessage;

constexpr std::uint64_t kAllOnes = ~std::uint64_t{0};

TEST(FillGaussian, WritesEveryValueAndNoOther) {
  SeededRandom random(1);
  const double untouched = 1e9;
  for (const std::size_t size : {0u, 1u, 2u, 3u, 17u, 1023u, 1024u, 1025u, 1026u, 2047u, 2048u, 5001u}) {
    std::vector<double> values(size + 1, untouched);
    fill_gaussian(random, std::span(values).first(size), 1);
    EXPECT_EQ(std::count(values.begin(), values.end(), untouched), 1) << size;
    EXPECT_EQ(values.back(), untouched);
  }
}

TEST(FillGaussian, NeverRepeatsAValue) {
  SeededRandom random(1);
  std::vector<double> values(5001);
  fill_gaussian(random, values, 1);
  std::sort(values.begin(), values.end());
  EXPECT_EQ(std::adjacent_find(values.begin(), values.end()), values.end());
}

TEST(FillGaussian, NoNoiseIsZero) {
  SeededRandom random(1);
  std::vector<double> values{1, -2, 3};
  fill_gaussian(random, values, 0);
  EXPECT_EQ(values, (std::vector<double>{0, 0, 0}));
}

TEST(Gaussian, IsFiniteAndReachesFarAtTheExtremes) {
  for (const std::uint64_t word : {std::uint64_t{0}, kAllOnes}) {
    ConstantRandom random(word);
    std::vector<double> values(100);
    fill_gaussian(random, values, 1e300);
    for (const double x : values) EXPECT_TRUE(std::isfinite(x));
    EXPECT_TRUE(std::isfinite(standard_gaussian(random)));
  }
  const std::uint64_t along_the_axis = std::uint64_t{1} << 63;
  ScriptedRandom farthest({0, along_the_axis});
  EXPECT_NEAR(standard_gaussian(farthest), std::sqrt(128 * std::numbers::ln2), 1e-12);  // 9.4
}

TEST(Gaussian, RefusesANegativeScale) {
  SeededRandom random(1);
  std::vector<double> values(3);
  EXPECT_THAT(
      [&] { fill_gaussian(random, values, -1); },
      ThrowsMessage<InputError>(StrEq("fill_gaussian: expected 0 <= stddev <= 1e+300, got stddev=-1")));
  EXPECT_THROW(fill_gaussian(random, values, std::nan("")), InputError);
}

long double exact_exponential(std::uint64_t word) {
  const std::uint64_t odd = word | 1;
  if (odd < std::uint64_t{1} << 63) return -std::log(std::ldexp(static_cast<long double>(odd), -64));
  return -std::log1p(-std::ldexp(static_cast<long double>(-odd), -64));
}

long double exact_angle(std::uint64_t word) {
  const long double quarter = std::numbers::pi_v<long double> / 2;
  return quarter * (std::ldexp(static_cast<long double>(2 * (word >> 12) + 1), -53) - 0.5L);
}

bits::Pair exact_gaussian(std::uint64_t radius_word, std::uint64_t angle_word) {
  const long double sign = (angle_word & 1) != 0 ? -1 : 1;
  const long double radius = sign * std::sqrt(2 * exact_exponential(radius_word));
  const long double angle = exact_angle(angle_word);
  const auto along = static_cast<double>(radius * std::cos(angle));
  const auto across = static_cast<double>(radius * std::sin(angle));
  return (angle_word & 2) != 0 ? bits::Pair{across, along} : bits::Pair{along, across};
}

double relative_error(double value, double exact) {
  return std::abs(value / exact - 1);
}

// Words with few and with many leading zeros or ones, where the logarithm is hardest.
std::vector<std::uint64_t> hard_words(std::size_t count) {
  SeededRandom random(3);
  std::vector<std::uint64_t> words(count);
  for (auto& word : words) {
    word = random.next_word() >> (random.next_word() % 64);
    if (random.next_word() % 2 == 0) word = ~word;
  }
  return words;
}

// The vectorised code itself, whichever this processor runs: a block of 1024 has 512 radii, then 512 angles.
TEST(FillGaussian, IsTheBoxMullerTransformOfItsBits) {
  constexpr std::size_t kPairs = 512;
  const auto words = hard_words(40 * 2 * kPairs);
  std::vector<double> values(words.size());
  ScriptedRandom random(words);
  fill_gaussian(random, values, 1);
  double worst = 0;
  for (std::size_t block = 0; block < words.size(); block += 2 * kPairs) {
    for (std::size_t i = block; i < block + kPairs; ++i) {
      const auto exact = exact_gaussian(words[i], words[i + kPairs]);
      worst = std::max(
          {worst, relative_error(values[i], exact.first), relative_error(values[i + kPairs], exact.second)});
    }
  }
  EXPECT_LT(worst, 1e-15);
}

TEST(BitsToReals, ExponentialIsAccurateEverywhere) {
  double worst = 0;
  for (const auto word : hard_words(200'000)) {
    worst = std::max(
        worst, relative_error(bits::exponential_from(word), static_cast<double>(exact_exponential(word))));
  }
  for (const std::uint64_t word :
       {std::uint64_t{0}, kAllOnes, std::uint64_t{1} << 63, (std::uint64_t{1} << 63) - 1}) {
    worst = std::max(
        worst, relative_error(bits::exponential_from(word), static_cast<double>(exact_exponential(word))));
  }
  EXPECT_LT(worst, 8e-16);
}

TEST(BitsToReals, WordsRoundToTheNearestDouble) {
  for (const auto word : hard_words(100'000)) ASSERT_EQ(bits::to_double(word), static_cast<double>(word));
}

// To the accuracy of the series, also of the smallest values: the noise is the same noise.
TEST(FillGaussian, IsTheSameUnderEachInstructionSet) {
  for (const std::size_t size : {1u, 2u, 17u, 5001u}) {
    expect_same_under_each_set(
        [&] {
          SeededRandom random(7);
          std::vector<double> values(size);
          fill_gaussian(random, values, 3);
          return values;
        },
        4e-15);
  }
}

}  // namespace
}  // namespace ration::testing
