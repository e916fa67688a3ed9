#include "base/round_up.h"

#include <gtest/gtest.h>

#include <boost/multiprecision/cpp_bin_float.hpp>
#include <cmath>
#include <random>

namespace ration::testing {
namespace {

using Exact = boost::multiprecision::number<boost::multiprecision::cpp_bin_float<1000>>;

double below(double value) {
  return std::nextafter(value, -1.0);
}

// The smallest double that is not below the exact result.
void expect_smallest_above(double found, const Exact& exact) {
  EXPECT_GE(Exact(found), exact);
  if (found > 0) {
    EXPECT_LT(Exact(below(found)), exact);
  }
}

TEST(RoundUp, GivesTheSmallestDoubleThatIsNotBelow) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> exponent(-80, 80);
  for (int i = 0; i < 2'000; ++i) {
    const double a = std::exp2(exponent(random));
    const double b = std::exp2(exponent(random));
    expect_smallest_above(add_up(a, b), Exact(a) + Exact(b));
    expect_smallest_above(multiply_up(a, b), Exact(a) * Exact(b));
    const double quotient = divide_up(a, b);
    EXPECT_GE(Exact(quotient) * Exact(b), Exact(a));
    EXPECT_LT(Exact(below(quotient)) * Exact(b), Exact(a));
  }
}

TEST(RoundUp, IsExactWhereItCanBe) {
  EXPECT_EQ(divide_up(1, 2), 0.5);
  EXPECT_EQ(add_up(0.5, 0.25), 0.75);
  EXPECT_EQ(multiply_up(3, 0.5), 1.5);
  EXPECT_EQ(multiply_up(0, 0.1), 0);
  EXPECT_EQ(divide_up(0, 3), 0);
}

TEST(RoundUp, NothingVanishesInUnderflow) {
  EXPECT_GT(multiply_up(1e-200, 1e-200), 0);
  EXPECT_GT(divide_up(1e-200, 1e200), 0);
  EXPECT_GT(divide_up(1, 5e300), 0);
  EXPECT_GE(add_up(1, 1e-300), std::nextafter(1.0, 2.0));
}

}  // namespace
}  // namespace ration::testing
