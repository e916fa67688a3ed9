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

TEST(Binomial, IsCertainAtTheEnds) {
  SeededRandom random(1);
  for (const std::uint64_t n : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1'000'000'000'000}}) {
    EXPECT_EQ(binomial(random, n, 0), 0u);
    EXPECT_EQ(binomial(random, n, 1), n);
    EXPECT_EQ(binomial(random, n, 1e-300), 0u);
    EXPECT_LE(binomial(random, n, 0.5), n);
    EXPECT_LE(binomial(random, n, 1 - 0x1p-53), n);
  }
  EXPECT_EQ(binomial(random, 0, 0.5), 0u);
}

TEST(Binomial, NeverExceedsItsTrials) {
  SeededRandom random(1);
  for (int i = 0; i < 20'000; ++i) {
    ASSERT_LE(binomial(random, 20, 0.5), 20u);
    ASSERT_LE(binomial(random, 3, 0.9), 3u);
  }
}

TEST(Binomial, CostDoesNotGrowWithTheTrials) {
  CountingRandom random(1);
  for (int i = 0; i < 1000; ++i) binomial(random, 1'000'000'000'000, 0.3);
  EXPECT_LT(random.words_generated(), 20'000u);
}

TEST(Binomial, RefusesWhatIsNoProbability) {
  SeededRandom random(1);
  EXPECT_THAT([&] { binomial(random, 5, -0.5); },
              ThrowsMessage<InputError>(StrEq("binomial: expected 0 <= p <= 1, got p=-0.5")));
  EXPECT_THROW(binomial(random, 5, std::nan("")), InputError);
  EXPECT_THROW(binomial(random, ~std::uint64_t{0}, 0.5), InputError);
}

}  // namespace
}  // namespace ration::testing
