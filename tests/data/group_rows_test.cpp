#include "data/group_rows.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "ration/base/error.h"
#include "support/doubles.h"
#include "support/small_table.h"

namespace ration::testing {
namespace {

using namespace ration::data;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::string kVisits = R"(
label = "y"
unit = "patient"
rows_per_unit = 3
bias = false
columns = [
  { name = "patient", type = "ignore" },
  { name = "x", type = "number", low = 0, high = 100 },
  { name = "y", type = "category", categories = ["no", "yes"] },
]
)";

Table visits(const std::string& rows, OnBadRow on_bad_row = OnBadRow::refuse,
             const std::string& schema = kVisits) {
  const TemporaryFolder folder;
  return read_csv(folder.write("visits.csv", "patient,x,y\n" + rows), parse_schema(schema),
                  {.on_bad_row = on_bad_row, .units = true});
}

std::vector<double> first_column(const Rows& rows) {
  std::vector<double> values;
  for (std::size_t row = 0; row < rows.count(); ++row) values.push_back(100 * rows.dense_row(row)[0]);
  return values;
}

TEST(UnitColumn, SaysWhoseEachRowIsAndIsNoFeature) {
  const Table table = visits("b,1,no\na,2,yes\nb,3,no\n");
  EXPECT_THAT(table.column_names, ElementsAre("x"));
  EXPECT_THAT(table.unit_of_row, ElementsAre(0, 1, 0));
  EXPECT_EQ(table.units, 2u);
}

TEST(UnitColumn, MissingIsABadRow) {
  EXPECT_THROW(visits(",1,no\n"), BadRows);
  for (const OnBadRow choice : {OnBadRow::clamp, OnBadRow::drop}) {
    const Table table = visits("a,1,no\n,2,no\na,3,yes\n", choice);
    EXPECT_EQ(table.rows.count(), 2u);
    EXPECT_EQ(table.units, 1u);
    EXPECT_EQ(table.left_out, 1u);
  }
}

// Otherwise the number of units would say whether a row is bad.
TEST(UnitColumn, AUnitWithoutAGoodRowIsAUnit) {
  const Table table = visits("a,1,no\nb,2,maybe\nc,3,yes\n", OnBadRow::drop);
  EXPECT_EQ(table.units, 3u);
  SeededRandom random(1);
  const GroupedRows grouped =
      group_by_unit(visits("a,1,no\nb,2,maybe\nc,3,yes\n", OnBadRow::drop), 3, random);
  EXPECT_EQ(grouped.units.count(), 3u);
  EXPECT_EQ(grouped.units.size(1), 0u);
}

TEST(GroupByUnit, PutsTheRowsOfAUnitTogether) {
  SeededRandom random(1);
  const GroupedRows grouped = group_by_unit(visits("b,1,no\na,2,yes\nb,3,no\nc,4,no\na,5,yes\n"), 3, random);
  EXPECT_THAT(first_column(grouped.rows), ElementsAre(1, 3, 2, 5, 4));
  EXPECT_EQ(grouped.units.count(), 3u);
  EXPECT_EQ(grouped.units.size(0), 2u);
  EXPECT_EQ(grouped.units.size(2), 1u);
  EXPECT_EQ(grouped.units.most_rows(), 3u);
  EXPECT_EQ(grouped.rows.labels()[3], 1);
}

// Fails by chance with probability < 1e-9: 6,000 draws of 3 in 5, each row in 3,600 of them with a standard
// deviation of 38.
TEST(GroupByUnit, LeavesFurtherRowsOutAtRandom) {
  SeededRandom random(7);
  std::map<double, int> kept;
  for (int i = 0; i < 6000; ++i) {
    Table table{.rows = Rows::dense(1, {.01, .02, .03, .04, .05, .06}, {0, 0, 0, 0, 0, 0}),
                .column_names = {"x"},
                .classes = {},
                .unit_of_row = {0, 0, 1, 0, 0, 0},
                .units = 2};
    const GroupedRows grouped = group_by_unit(std::move(table), 3, random);
    ASSERT_EQ(grouped.units.size(0), 3u);
    ASSERT_EQ(grouped.units.size(1), 1u);
    for (const double x : first_column(grouped.rows)) ++kept[std::round(x)];
  }
  EXPECT_EQ(kept[3], 6000);
  for (const double x : {1, 2, 4, 5, 6}) EXPECT_NEAR(kept[x], 3600, 250) << x;
}

// A neighbour with a unit of any number of rows more is one with a unit more, and the others stay as they
// are.
TEST(GroupByUnit, NeighboursDifferByAUnitOfBoundedSize) {
  for (int rows = 1; rows <= 40; ++rows) {
    std::string without, more;
    for (int i = 0; i < 20; ++i) {
      without += fmt::format("p{},{},no\n", i % 7, i);
      if (i < rows) more += fmt::format("new,{},yes\n", 50 + i % 40);
    }
    for (int i = 20; i < rows; ++i) more += fmt::format("new,{},yes\n", 50 + i % 40);
    SeededRandom random(3);
    const GroupedRows before = group_by_unit(visits(without), 8, random);
    const GroupedRows after = group_by_unit(visits(without + more), 8, random);
    ASSERT_EQ(after.units.count(), before.units.count() + 1);
    EXPECT_EQ(after.units.size(7), static_cast<std::size_t>(std::min(rows, 8)));
    for (std::size_t row = 0; row < before.rows.count(); ++row)
      EXPECT_EQ(after.rows.dense_row(row)[0], before.rows.dense_row(row)[0]);
  }
}

TEST(GroupByUnit, KeepsTheBoundOnTheRows) {
  SeededRandom random(1);
  Table table = visits("b,1,no\na,2,yes\nb,3,no\n", OnBadRow::refuse, "max_row_norm = 1\n" + kVisits);
  EXPECT_EQ(group_by_unit(std::move(table), 3, random).rows.norm_bound(), 1);
}

TEST(GroupByUnit, ATableReadWithoutUnitsIsRefused) {
  SeededRandom random(1);
  Table table = visits("b,1,no\n");
  table.unit_of_row.clear();
  EXPECT_THROW(group_by_unit(std::move(table), 3, random), InputError);
}

TEST(UnitSchema, SurvivesToml) {
  const Schema schema = parse_schema(kVisits);
  EXPECT_EQ(schema.unit, "patient");
  EXPECT_EQ(schema.rows_per_unit, 3u);
  const Schema back = parse_schema(to_toml(schema));
  EXPECT_EQ(back.unit, "patient");
  EXPECT_EQ(back.rows_per_unit, 3u);
}

void expect_fault(std::string from, std::string to, const std::string& message) {
  std::string schema = kVisits;
  schema.replace(schema.find(from), from.size(), to);
  EXPECT_THAT(refusal([&] { parse_schema(schema); }), HasSubstr(message));
}

TEST(UnitSchema, WhatCannotBeAUnitIsRefused) {
  expect_fault("rows_per_unit = 3", "", "rows_per_unit is needed with unit");
  expect_fault("rows_per_unit = 3", "rows_per_unit = 1000", "1 <= rows_per_unit <= 256, got 1000");
  expect_fault("unit = \"patient\"\n", "", "expected unit = \"COLUMN\" beside it");
  expect_fault("unit = \"patient\"", "unit = \"doctor\"", "unit 'doctor' is none of the columns");
  expect_fault("unit = \"patient\"", "unit = \"y\"", "the label is no unit");
  expect_fault("unit = \"patient\"", "unit = \"x\"", "is never a feature; expected type = \"ignore\"");
}

}  // namespace
}  // namespace ration::testing
