#include <gtest/gtest.h>

#include <vector>

#include "ration/base/distributions.h"
#include "support/statistics.h"

namespace ration::testing {
TEST(FillGaussian, HasTheDeclaredScale) {
  std::vector<double> x(200'001);
  fill_gaussian(SecureRandom::for_this_thread(), x, 3.0);
  EXPECT_TRUE(follows_normal(x, 3.0));
  EXPECT_FALSE(follows_normal(x, 2.0));
  EXPECT_FALSE(follows_normal(x, 4.5));
}
}  // namespace ration::testing
