#include "base/quote.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "ration/base/error.h"
#include "ration/privacy/relation.h"

namespace ration {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(Quote, WhatIsShownIsOneLineOfPrintableCharacters) {
  EXPECT_EQ(in_quotes("shop"), "'shop'");
  EXPECT_EQ(in_quotes("sch\u00f6n"), "'sch\u00f6n'");
  EXPECT_EQ(in_quotes("a\nb\x1b[2J\x7f"), "'a\\x0Ab\\x1B[2J\\x7F'");
  EXPECT_EQ(in_quotes("\xff"), "'\\xFF'");
  EXPECT_EQ(one_line(std::string_view("\0", 1)), "\\x00");
}

TEST(Quote, WhatIsLongIsCutAndNoCharacterIsCutInTwo) {
  EXPECT_EQ(in_quotes(std::string(40, 'x')), "'" + std::string(40, 'x') + "'");
  EXPECT_EQ(in_quotes(std::string(41, 'x')), "'" + std::string(40, 'x') + "...' (41 bytes)");
  EXPECT_EQ(in_quotes(std::string(39, 'x') + "\u00f6\u00f6"), "'" + std::string(39, 'x') + "...' (43 bytes)");
  EXPECT_EQ(one_short_line(std::string(200, 'x')), std::string(200, 'x'));
  EXPECT_EQ(one_short_line(std::string(1'000'000, 'x')), std::string(200, 'x') + "...");
}

TEST(Quote, ANameOfAMillionLettersIsRefusedAtOnceAndInShort) {
  try {
    named<Relation>(std::string(1'000'000, 'r') + "\x1b");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("(1000001 bytes)"));
    EXPECT_THAT(error.what(), Not(HasSubstr("\x1b")));
    EXPECT_LT(std::string(error.what()).size(), 300u);
  }
}

}  // namespace
}  // namespace ration
