#include "base/check.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "ration/base/error.h"

namespace ration {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

std::string message(const char* where, const char* name, double value, const Interval& allowed) {
  try {
    require(where, name, value, allowed);
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Require, PrintsThePredicateAndTheValue) {
  EXPECT_EQ(message("Poisson", "rate", 1.5, greater_than(0).at_most(1)),
            "Poisson: expected 0 < rate <= 1, got rate=1.5");
  EXPECT_EQ(message("account", "delta", 0, greater_than(0).less_than(1)),
            "account: expected 0 < delta < 1, got delta=0");
  EXPECT_EQ(message("Gaussian", "noise", -2.5, greater_than(0)),
            "Gaussian: expected noise > 0, got noise=-2.5");
  EXPECT_EQ(message("Repeated", "count", -1, at_least(0)), "Repeated: expected count >= 0, got count=-1");
  EXPECT_EQ(message("x", "y", 3, at_least(-1).less_than(2)), "x: expected -1 <= y < 2, got y=3");
}

TEST(Require, NanAndInfinityLieInNoInterval) {
  for (const Interval& interval :
       {greater_than(0), at_least(0), at_least(0).at_most(1), greater_than(-kInfinity)}) {
    EXPECT_FALSE(interval.contains(kNan));
    EXPECT_FALSE(interval.contains(kInfinity));
    EXPECT_FALSE(interval.contains(-kInfinity));
  }
  EXPECT_EQ(message("Gaussian", "noise", kNan, greater_than(0)),
            "Gaussian: expected noise > 0, got noise=nan");
  EXPECT_EQ(message("Gaussian", "noise", kInfinity, greater_than(0)),
            "Gaussian: expected noise > 0, got noise=inf");
}

TEST(Require, BoundsBelongToTheIntervalOrNot) {
  EXPECT_FALSE(greater_than(0).contains(0));
  EXPECT_TRUE(at_least(0).contains(0));
  EXPECT_FALSE(at_least(0).less_than(1).contains(1));
  EXPECT_TRUE(at_least(0).at_most(1).contains(1));
  EXPECT_TRUE(greater_than(0).contains(std::numeric_limits<double>::denorm_min()));
  EXPECT_TRUE(greater_than(0).contains(std::numeric_limits<double>::max()));
}

TEST(Require, ReturnsWhatItAccepted) {
  EXPECT_EQ(require("Poisson", "rate", 0.25, greater_than(0).at_most(1)), 0.25);
}

TEST(Show, IsTheShortestFormThatReadsBack) {
  EXPECT_EQ(show(0.1), "0.1");
  EXPECT_EQ(show(1e-300), "1e-300");
  EXPECT_EQ(show(3), "3");
  EXPECT_EQ(std::stod(show(0.1 + 0.2)), 0.1 + 0.2);
}

}  // namespace
}  // namespace ration
