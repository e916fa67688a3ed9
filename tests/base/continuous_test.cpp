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

TEST(Exponential, IsPositiveAndFiniteAtTheExtremes) {
  for (const std::uint64_t word : {std::uint64_t{0}, ~std::uint64_t{0}}) {
    ConstantRandom random(word);
    for (const double mean : {1e-300, 1.0, 1e300}) {
      EXPECT_GT(exponential(random, mean), 0);
      EXPECT_TRUE(std::isfinite(exponential(random, mean)));
      EXPECT_TRUE(std::isfinite(laplace(random, mean)));
    }
  }
}

TEST(Exponential, RefusesAMeanThatIsNotPositive) {
  SeededRandom random(1);
  EXPECT_THAT([&] { exponential(random, 0); },
              ThrowsMessage<InputError>(StrEq("exponential: expected 0 < mean <= 1e+300, got mean=0")));
  EXPECT_THROW(exponential(random, std::nan("")), InputError);
}

TEST(Laplace, RefusesAScaleThatIsNotPositive) {
  SeededRandom random(1);
  EXPECT_THAT([&] { laplace(random, -2); },
              ThrowsMessage<InputError>(StrEq("laplace: expected 0 < scale <= 1e+300, got scale=-2")));
}

}  // namespace
}  // namespace ration::testing
