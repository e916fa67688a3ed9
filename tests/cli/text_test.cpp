#include <gtest/gtest.h>

#include "base/read_number.h"
#include "ration/base/error.h"
#include "text/short_names.h"
#include "text/text_table.h"

namespace ration::cli {
namespace {

TEST(ShowRounded, NeverFlattersTheFigure) {
  EXPECT_EQ(show_rounded_up(1.23456111), "1.23457");
  EXPECT_EQ(show_rounded_up(1.23456999), "1.23457");
  EXPECT_EQ(show_rounded_down(1.23456999), "1.23456");
  EXPECT_EQ(show_rounded_up(0.999999999), "1");
  EXPECT_EQ(show_rounded_up(1e-7 + 1e-15), "1.00001e-07");
  EXPECT_EQ(show_rounded_up(0), "0");
  EXPECT_EQ(show_rounded_up(3), "3");
  for (double value = 1e-8; value < 1e8; value *= 1.7) {
    EXPECT_GE(std::stod(show_rounded_up(value)), value);
    EXPECT_LE(std::stod(show_rounded_down(value)), value);
    EXPECT_LE(std::stod(show_rounded_up(value)), value * (1 + 1.1e-5));
  }
}

TEST(ShortNames, AreOfHatsAlone) {
  EXPECT_EQ(with_short_number("capital-gain near 1332.5214321633246"), "capital-gain near 1333");
  EXPECT_EQ(with_short_number("near 7.125"), "near 7.125");
  EXPECT_EQ(with_short_number("linear 7.12512345"), "linear 7.12512345");
  EXPECT_EQ(with_short_number("lives near water"), "lives near water");
}

TEST(ReadCount, TakesWholeNumbersHoweverWritten) {
  EXPECT_EQ(read_count("--steps", "steps", "1000"), 1000);
  EXPECT_EQ(read_count("--steps", "steps", "1e6"), 1'000'000);
  EXPECT_THROW(read_count("--steps", "steps", "1.5"), InputError);
  EXPECT_THROW(read_count("--steps", "steps", ""), InputError);
}

TEST(TextTable, AlignsColumnsAndLeavesNoTrailingSpace) {
  TextTable table({{"name"}, {"value", TextTable::Align::right}, {"note"}});
  table.add_row({"a", "1.5", "x"});
  table.add_row({"longer", "10.25"});
  EXPECT_EQ(table.render(),
            "name    value  note\n"
            "------  -----  ----\n"
            "a         1.5  x\n"
            "longer  10.25\n");
}

}  // namespace
}  // namespace ration::cli
