#include "metrics/regression.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace ration::testing {
namespace {

using Vector = std::vector<double>;

const Vector kSaid = {1, 2, 4, 8};
const Vector kTrue = {2, 2, 2, 6};

// Errors -1, 0, 2, 2; the labels' mean is 3, their squared deviations 1, 1, 1, 9.
TEST(Regression, IsAsByHand) {
  EXPECT_DOUBLE_EQ(root_mean_square_error(kSaid, kTrue), 1.5);
  EXPECT_DOUBLE_EQ(mean_absolute_error(kSaid, kTrue), 1.25);
  EXPECT_DOUBLE_EQ(*r_squared(kSaid, kTrue), 1 - 9.0 / 12);
}

TEST(RSquared, IsZeroForTheMeanOneForTheTruthAndNothingWithoutSpread) {
  EXPECT_DOUBLE_EQ(*r_squared(Vector(4, 3), kTrue), 0);
  EXPECT_DOUBLE_EQ(*r_squared(kTrue, kTrue), 1);
  EXPECT_LT(*r_squared(Vector(4, 100), kTrue), -100);
  EXPECT_FALSE(r_squared(kSaid, Vector(4, 0.1)));
  EXPECT_FALSE(r_squared(Vector{1}, Vector{2}));
}

TEST(RSquared, IsTheSameInAnyUnitAndFromAnyZero) {
  Vector said = kSaid;
  Vector is = kTrue;
  for (double& value : said) value = 1e9 - 3 * value;
  for (double& value : is) value = 1e9 - 3 * value;
  EXPECT_NEAR(*r_squared(said, is), 0.25, 1e-12);
}

}  // namespace
}  // namespace ration::testing
