#include "privacy/decimal_amount.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "ration/base/error.h"
#include "support/generators.h"

namespace ration::testing {
namespace {

DecimalAmount up(double value) {
  return DecimalAmount::rounded_up(value);
}

TEST(DecimalAmount, ReadsADoubleAsPeopleWriteIt) {
  EXPECT_EQ(up(0.1).to_text(), "0.1");
  EXPECT_EQ(up(1e-6).to_text(), "0.000001");
  EXPECT_EQ(up(1.25e-7).to_text(), "0.000000125");
  EXPECT_EQ(up(12345678).to_text(), "12345678");
  EXPECT_EQ(up(3).to_text(), "3");
  EXPECT_EQ(up(0).to_text(), "0");
  EXPECT_EQ(up(0.30000000000000004).to_text(), "0.30000000000000004");
}

TEST(DecimalAmount, TenTenthsAreOneAndNotMore) {
  DecimalAmount sum;
  for (int i = 0; i < 10; ++i) sum = sum + up(0.1);
  EXPECT_EQ(sum, DecimalAmount::rounded_down(1));
  EXPECT_FALSE(sum + up(1e-30) <= DecimalAmount::rounded_down(1));
}

TEST(DecimalAmount, BelowItsUnitItRoundsAgainstUs) {
  EXPECT_EQ(up(1.5e-30).to_text(), "0.000000000000000000000000000002");
  EXPECT_EQ(DecimalAmount::rounded_down(1.5e-30).to_text(), "0.000000000000000000000000000001");
  EXPECT_EQ(up(1e-300).to_text(), "0.000000000000000000000000000001");
  EXPECT_EQ(DecimalAmount::rounded_down(1e-300).to_text(), "0");
}

TEST(DecimalAmount, RefusesWhatItCannotHold) {
  for (const double bad : {-1.0, 1e8, std::nan(""), HUGE_VAL}) EXPECT_THROW(up(bad), InternalError) << bad;
  for (const char* bad : {"", ".", "1.", ".5", "-1", "1e-5", "0x1", " 1", "1 ", "123456789",
                          "0.1234567890123456789012345678901"}) {
    EXPECT_FALSE(DecimalAmount::from_text(bad).has_value()) << bad;
  }
}

RC_GTEST_PROP(DecimalAmount, TextIsLossless, ()) {
  const double value = *log_uniform(1e-25, 1e7);
  RC_ASSERT(DecimalAmount::from_text(up(value).to_text()).value() == up(value));
  RC_ASSERT(DecimalAmount::rounded_down(value) <= up(value));
  RC_ASSERT(std::abs(std::stod(up(value).to_text()) - value) <= value * 1e-15 + 1e-30);
}

// All that is left can be asked for, and nearly all of it is offered.
RC_GTEST_PROP(DecimalAmount, TheLargestDoubleFits, ()) {
  const DecimalAmount amount = up(*log_uniform(1e-12, 10)) + up(*log_uniform(1e-12, 10));
  const double offered = amount.largest_double();
  RC_ASSERT(up(offered) <= amount);
  RC_ASSERT(amount <= DecimalAmount::rounded_down(amount.smallest_double()));
  RC_ASSERT(offered <= amount.smallest_double());
  RC_ASSERT(!(up(std::nextafter(std::nextafter(offered, 1e9), 1e9)) <= amount));
}

}  // namespace
}  // namespace ration::testing
