#include "e6/made_up.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "e6/trial.h"
#include "ration/data/table.h"

namespace ration::testing {
namespace {

using e6::Family;
using e6::MadeUp;

Family small(Family family) {
  family.rows = 300;
  family.test_rows = 1'500;
  return family;
}

// What a reader of such a file would have made of it.
TEST(MadeUp, TablesAreEncodedAsTheirSchemasSay) {
  for (const Family& family : e6::families()) {
    const MadeUp table = e6::make_up(small(family), 1);
    EXPECT_FALSE(data::find_fault(table.schema)) << family.name;
    const std::size_t columns = data::encoded_column_names(table.schema).size();
    ASSERT_EQ(table.train->columns(), columns) << family.name;
    ASSERT_EQ(table.test.columns(), columns) << family.name;
    for (std::size_t row = 0; row < table.train->count(); ++row) {
      double categories = 0, bias = 0;
      const std::size_t last_category = columns - 1 - family.numbers;
      table.train->for_each_entry(row, [&](std::size_t column, double value) {
        ASSERT_GE(value, 0);
        ASSERT_LE(value, 1);
        if (column < last_category) categories += value;
        if (column == columns - 1) bias = value;
      });
      ASSERT_EQ(categories, static_cast<double>(family.categories)) << family.name;
      ASSERT_EQ(bias, 1);
    }
  }
}

TEST(MadeUp, TheSeedDecidesTheTable) {
  const Family family = small(e6::families()[0]);
  const auto norms = [&](std::uint64_t seed) {
    const MadeUp table = e6::make_up(family, seed);
    return std::vector<double>(table.train->norms().begin(), table.train->norms().end());
  };
  EXPECT_EQ(norms(1), norms(1));
  EXPECT_NE(norms(1), norms(2));
}

TEST(MadeUp, LabelsHaveTheRateOfTheFamily) {
  for (const Family& family : e6::families()) {
    const MadeUp table = e6::make_up(small(family), 1);
    EXPECT_NEAR(e6::score_of_majority(table), 100 * std::max(family.rate, 1 - family.rate), 3) << family.name;
  }
  const MadeUp ten = e6::make_up(small(e6::ten_classes()), 1);
  const std::set<double> classes(ten.test.labels().begin(), ten.test.labels().end());
  EXPECT_EQ(classes.size(), 10u);
}

TEST(MadeUp, ThereIsSomethingToLearn) {
  const MadeUp table = e6::make_up(small(e6::families()[0]), 1);
  EXPECT_GT(e6::score_of({.method = "nonprivate"}, table), e6::score_of_majority(table) + 5);
}

}  // namespace
}  // namespace ration::testing
