#include "base/vector_math.h"

#include <gtest/gtest.h>

#include <limits>

namespace ration::testing {
namespace {

double relative_error(double value, long double truth) {
  return static_cast<double>(std::abs((static_cast<long double>(value) - truth) / truth));
}

TEST(VectorMath, TheExponentialIsThatOfTheLibrary) {
  for (double x = 0; x > -340; x -= 0.0173) {
    ASSERT_LE(relative_error(exp_of_negative(x), std::exp(static_cast<long double>(x))), 0x1p-51) << x;
  }
  EXPECT_EQ(exp_of_negative(0), 1);
  EXPECT_EQ(exp_of_negative(-0.0), 1);
  EXPECT_EQ(exp_of_negative(-5e-324), 1);
}

TEST(VectorMath, FarBelowZeroTheExponentialStaysWhereItIs) {
  const double least = exp_of_negative(-340);
  EXPECT_NEAR(least / std::exp(-340.0), 1, 1e-14);
  for (const double x : {-341.0, -745.0, -1e300, -std::numeric_limits<double>::infinity()}) {
    EXPECT_EQ(exp_of_negative(x), least) << x;
  }
  EXPECT_TRUE(std::isnan(exp_of_negative(std::nan(""))));
}

TEST(VectorMath, TheLogarithmIsThatOfTheLibrary) {
  for (double x = 1; x > 1e-300; x *= 0.997) {
    ASSERT_LE(relative_error(log1p_of_unit(x), std::log1p(static_cast<long double>(x))), 0x1.8p-51) << x;
  }
  EXPECT_EQ(log1p_of_unit(0), 0);
  EXPECT_TRUE(std::isnan(log1p_of_unit(std::nan(""))));
}

}  // namespace
}  // namespace ration::testing
