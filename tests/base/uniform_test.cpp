#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/distributions.h"
#include "ration/base/error.h"
#include "support/doubles.h"

namespace ration::testing {
namespace {

using ::testing::StrEq;
using ::testing::ThrowsMessage;

constexpr std::uint64_t kAllOnes = ~std::uint64_t{0};

TEST(Uniform, StaysInsideTheOpenInterval) {
  ConstantRandom zeros(0);
  ConstantRandom ones(kAllOnes);
  EXPECT_GT(uniform(zeros), 0);
  EXPECT_LT(uniform(ones), 1);
}

TEST(Uniform, ReadsItsBitsAsABinaryFraction) {
  ScriptedRandom half({std::uint64_t{1} << 63});
  EXPECT_EQ(uniform(half), 0.5);
  ScriptedRandom tiny({0, std::uint64_t{3} << 62});
  EXPECT_EQ(uniform(tiny), std::ldexp(0.75, -64));
  ScriptedRandom continued({1, kAllOnes});  // 63 zeros, then 64 ones: rounds up to 2^-63
  EXPECT_EQ(uniform(continued), std::ldexp(1, -63));
}

TEST(UniformBelow, CoversItsRangeAndNothingElse) {
  ConstantRandom ones(kAllOnes);
  for (const std::uint64_t n : {std::uint64_t{1}, std::uint64_t{2}, std::uint64_t{1000}, kAllOnes}) {
    EXPECT_EQ(uniform_below(ones, n), n - 1);
  }
  ScriptedRandom half({(std::uint64_t{1} << 63) + 1});
  EXPECT_EQ(uniform_below(half, 10), 5u);
}

TEST(UniformBelow, RejectsTheSurplus) {
  // 2^64 mod 3 = 1: the word 0 would make the value 0 too likely, so it is drawn again.
  ScriptedRandom random({0, kAllOnes});
  EXPECT_EQ(uniform_below(random, 3), 2u);
}

TEST(UniformBelow, RefusesAnEmptyRange) {
  SeededRandom random(1);
  EXPECT_THAT([&] { uniform_below(random, 0); },
              ThrowsMessage<InputError>(StrEq("uniform_below: expected n >= 1, got n=0")));
}

TEST(Bernoulli, IsCertainAtTheEnds) {
  ConstantRandom zeros(0);
  ConstantRandom ones(kAllOnes);
  EXPECT_FALSE(bernoulli(zeros, 0));
  EXPECT_TRUE(bernoulli(ones, 1));
}

TEST(Bernoulli, ComparesWithEveryDigitOfP) {
  const auto decided = [](std::vector<std::uint64_t> words, double p) {
    ScriptedRandom random(std::move(words));
    return bernoulli(random, p);
  };
  const std::uint64_t top = std::uint64_t{1} << 63;
  EXPECT_TRUE(decided({top - 1}, 0.5));
  EXPECT_FALSE(decided({top}, 0.5));
  const double p = std::ldexp(0.75, -64);  // 64 zeros, then 11
  EXPECT_FALSE(decided({1}, p));
  EXPECT_TRUE(decided({0, (std::uint64_t{3} << 62) - 1}, p));
  EXPECT_FALSE(decided({0, std::uint64_t{3} << 62}, p));
}

TEST(Bernoulli, RefusesWhatIsNoProbability) {
  SeededRandom random(1);
  EXPECT_THAT([&] { bernoulli(random, 1.5); },
              ThrowsMessage<InputError>(StrEq("bernoulli: expected 0 <= p <= 1, got p=1.5")));
  EXPECT_THROW(bernoulli(random, std::nan("")), InputError);
}

}  // namespace
}  // namespace ration::testing
