// Hats beside a number: what they are, and where their knots come from.
#include "data/knots.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <span>

#include "data/unit_scale.h"
#include "support/binary_files.h"
#include "support/small_table.h"

namespace ration::testing {
namespace {

using namespace ration::data;
using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// One number x and a label y, without header and bias.
Schema with_number(const std::string& number, const std::string& more = "bias = false\n") {
  return parse_schema(more + "label = \"y\"\nheader = false\nmissing = \"?\"\ncolumns = [\n" +
                      "  { name = \"x\", type = \"number\", " + number + " },\n" +
                      "  { name = \"y\", type = \"category\", categories = [0, 1] },\n]\n");
}

std::vector<double> row_of(const Schema& schema, const std::string& x) {
  return plain_row(read_text(x + ",0\n", schema).rows, 0);
}

// --- encoding

TEST(Knots, AHatIsOneAtItsKnotAndZeroAtItsNeighbours) {
  const Schema schema = with_number("low = 0, high = 8, knots = [1, 4]");
  EXPECT_THAT(row_of(schema, "0"), ElementsAre(0, 0, 0));
  EXPECT_THAT(row_of(schema, "0.5"), ElementsAre(0.0625, 0.5, 0));
  EXPECT_THAT(row_of(schema, "1"), ElementsAre(0.125, 1, 0));
  EXPECT_THAT(row_of(schema, "1.75"), ElementsAre(0.21875, 0.75, 0.25));
  EXPECT_THAT(row_of(schema, "2.5"), ElementsAre(0.3125, 0.5, 0.5));
  EXPECT_THAT(row_of(schema, "4"), ElementsAre(0.5, 0, 1));
  EXPECT_THAT(row_of(schema, "6"), ElementsAre(0.75, 0, 0.5));
  EXPECT_THAT(row_of(schema, "8"), ElementsAre(1, 0, 0));
}

TEST(Knots, OneKnotMakesOneHat) {
  const Schema schema = with_number("low = -1, high = 3, knots = [0]");
  EXPECT_THAT(row_of(schema, "-0.5"), ElementsAre(0.125, 0.5));
  EXPECT_THAT(row_of(schema, "0"), ElementsAre(0.25, 1));
  EXPECT_THAT(row_of(schema, "1.5"), ElementsAre(0.625, 0.5));
}

// Straight in log(1 + x - low), as the value beside it: 9 is half-way to 99, and sqrt(10) - 1 to 9.
TEST(Knots, HatsAreStraightOnTheScaleOfTheirNumber) {
  const Schema schema = with_number("low = 0, high = 99, scale = \"log\", knots = [9]");
  EXPECT_THAT(row_of(schema, "0"), ElementsAre(0, 0));
  EXPECT_THAT(row_of(schema, "2.1622776601683795"),
              ElementsAre(DoubleNear(0.25, 1e-15), DoubleNear(0.5, 1e-15)));
  EXPECT_THAT(row_of(schema, "9"), ElementsAre(DoubleNear(0.5, 1e-15), 1));
  EXPECT_THAT(row_of(schema, "99"), ElementsAre(1, 0));
}

TEST(Knots, NumbersOutOfBoundsAndMissingOnesAreEncodedAsWhatStandsInForThem) {
  const Schema schema =
      with_number("low = 0, high = 8, knots = [1, 4], out_of_bounds = \"clamp\", fill = 2.5");
  EXPECT_EQ(row_of(schema, "-7"), row_of(schema, "0"));
  EXPECT_EQ(row_of(schema, "1e999"), row_of(schema, "8"));
  EXPECT_EQ(row_of(schema, "?"), row_of(schema, "2.5"));
}

TEST(Knots, ACellThatCannotBeReadIsTheLowerBoundWhereNoHatIs) {
  const Schema schema = with_number("low = 0, high = 8, knots = [1, 4]");
  const TemporaryFolder folder;
  const std::string path = folder.write("t.csv", "old,0\n?,0\n-3,1\n12,1\n");
  const Table clamped = read_table(path, schema, {.on_bad_row = OnBadRow::clamp});
  for (std::size_t row = 0; row < 3; ++row)
    EXPECT_THAT(plain_row(clamped.rows, row), ElementsAre(0, 0, 0)) << row;
  EXPECT_THAT(plain_row(clamped.rows, 3), ElementsAre(1, 0, 0));
  EXPECT_EQ(read_table(path, schema, {.on_bad_row = OnBadRow::drop}).left_out, 4u);
  EXPECT_THAT(refusal([&] { read_table(path, schema); }), HasSubstr("value 12 is outside the public bounds"));
}

TEST(Knots, HatsStandBehindTheirNumberAndBeforeWhatFollows) {
  const Schema schema = parse_schema(R"(
label = "y"
columns = [
  { name = "work", type = "category", categories = ["field", "shop"] },
  { name = "age", type = "number", low = 10, high = 90, knots = [30, 52.5] },
  { name = "y", type = "number", low = 0, high = 9 },
  { name = "pay", type = "number", low = 0, high = 10 },
])");
  const Table table = read_text("pay,y,age,work\n5,7,30,shop\n10,8,70,field\n", schema);
  EXPECT_THAT(table.column_names,
              ElementsAre("work=field", "work=shop", "age", "age near 30", "age near 52.5", "pay", "(bias)"));
  EXPECT_EQ(table.column_names, encoded_column_names(schema));
  EXPECT_THAT(plain_row(table.rows, 0), ElementsAre(0, 1, 0.25, 1, 0, 0.5, 1));
  EXPECT_THAT(plain_row(table.rows, 1), ElementsAre(1, 0, 0.75, 0, DoubleNear(20 / 37.5, 1e-15), 1, 1));
}

TEST(Knots, ArraysAreEncodedLikeText) {
  const Schema schema = with_number("low = 0, high = 8, knots = [1, 4]");
  const TemporaryFolder folder;
  const auto path = folder.write("t.npy", npy(npy_header("<f8", "(2, 2)"), bytes_of<double>({2.5, 1, 4, 0})));
  const Table table = read_table(path, schema);
  EXPECT_THAT(plain_row(table.rows, 0), ElementsAre(0.3125, 0.5, 0.5));
  EXPECT_THAT(plain_row(table.rows, 1), ElementsAre(0.5, 0, 1));
}

TEST(Knots, RowsAreShortenedHatsAndAll) {
  const Schema schema = with_number("low = 0, high = 8, knots = [1, 4]", "max_row_norm = 0.5\n");
  const Table table = read_text("2.5,0\n", schema);
  EXPECT_LE(table.rows.norms()[0], 0.5);
  EXPECT_NEAR(plain_row(table.rows, 0)[1], 0.5 * 0.5 / std::sqrt(1 + 0.5 + 0.3125 * 0.3125), 1e-12);
}

// At most four entries of ten columns are other than 0, which is dense (Rows::kDenseFrom), and four of 32 are
// not, whatever the rows hold.
TEST(Knots, StorageFollowsTheSchemaNotTheRows) {
  std::string many;
  for (int i = 1; i <= 30; ++i) many += fmt::format("{},", i);
  const Schema wide = with_number("low = 0, high = 31, knots = [" + many + "]", "");
  const Schema narrow = with_number("low = 0, high = 9, knots = [1, 2, 3, 4, 5, 6, 7, 8]", "");
  for (const std::string x : {"0", "1", "1.5", "9"}) {
    EXPECT_TRUE(read_text(x + ",0\n", narrow).rows.is_dense()) << x;
    EXPECT_FALSE(read_text(x + ",0\n", wide).rows.is_dense()) << x;
  }
}

TEST(Knots, HatsThatAreZeroAreNotStored) {
  std::string many;
  for (int i = 1; i <= 30; ++i) many += fmt::format("{},", i);
  const Schema wide = with_number("low = 0, high = 32, knots = [" + many + "]");
  const Rows rows = read_text("0,0\n8,0\n8.5,0\n32,0\n", wide).rows;
  EXPECT_THAT(rows.sparse_row(0).indices, IsEmpty());
  EXPECT_THAT(rows.sparse_row(1).indices, ElementsAre(0, 8));
  EXPECT_THAT(rows.sparse_row(2).indices, ElementsAre(0, 8, 9));
  EXPECT_THAT(rows.sparse_row(3).indices, ElementsAre(0));
}

// --- what holds for all knots

Column some_column(std::mt19937_64& random) {
  std::uniform_real_distribution<double> uniform(0, 1);
  Column column;
  column.name = "x";
  column.type = ColumnType::number;
  column.low = std::ldexp(uniform(random) - 0.5, static_cast<int>(random() % 20));
  column.high = column.low + std::ldexp(uniform(random) + 0.01, static_cast<int>(random() % 40));
  column.scale = random() % 2 == 0 ? Scale::linear : Scale::log;
  std::vector<double> places(1 + random() % 12);
  for (double& place : places) place = 0.001 + 0.998 * uniform(random);
  std::sort(places.begin(), places.end());
  column.knots = dyadic_knots(column, places);
  return column;
}

Schema schema_of(const Column& column) {
  Schema schema = with_number("low = 0, high = 1", "");
  schema.columns[0] = column;
  require_sound(schema);
  return schema;
}

// Values at the knots and the bounds, their neighbours among doubles, and others between them.
std::vector<double> values_within(const Column& column, std::mt19937_64& random) {
  std::uniform_real_distribution<double> uniform(column.low, column.high);
  std::vector<double> values = {column.low, column.high};
  for (const double knot : column.knots) {
    for (const double beside : {column.low, knot, column.high})
      values.push_back(std::nextafter(knot, beside));
  }
  for (int i = 0; i < 50; ++i) values.push_back(std::min(uniform(random), column.high));
  return values;
}

Table table_of(const Schema& schema, const std::vector<double>& values) {
  std::string text;
  for (const double value : values) text += fmt::format("{},0\n", value);
  return read_text(text, schema);
}

TEST(Knots, HatsAreInTheUnitIntervalAndSumToAtMostOne) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 200; ++i) {
    const Column column = some_column(random);
    const std::size_t hats = column.knots.size();
    const std::vector<double> values = values_within(column, random);
    const Table table = table_of(schema_of(column), values);
    for (std::size_t row = 0; row < values.size(); ++row) {
      const std::vector<double> encoded = plain_row(table.rows, row);
      ASSERT_EQ(encoded.size(), hats + 2);
      double sum = 0;
      std::vector<std::size_t> there;
      for (std::size_t j = 1; j <= hats; ++j) {
        EXPECT_GE(encoded[j], 0);
        EXPECT_LE(encoded[j], 1);
        sum += encoded[j];
        if (encoded[j] != 0) there.push_back(j);
      }
      EXPECT_LE(sum, 1);
      if (values[row] >= column.knots.front() && values[row] <= column.knots.back()) {
        EXPECT_EQ(sum, 1);
      }
      if (values[row] == column.low || values[row] == column.high) {
        EXPECT_EQ(sum, 0);
      }
      EXPECT_LE(there.size(), 2u);
      if (there.size() == 2) {
        EXPECT_EQ(there[1], there[0] + 1);
      }
      EXPECT_LE(table.rows.norms()[row], std::sqrt(static_cast<double>(encoded.size())));
    }
  }
}

// f is straight between its values at the bounds and the knots. The weights that make a linear model of it:
// the bias f(low), the slope f(high) - f(low), and for each hat what is missing at its knot.
TEST(Knots, ALinearModelIsAnyFunctionThatIsStraightBetweenKnots) {
  std::mt19937_64 random(2);
  std::normal_distribution<double> normal;
  for (int i = 0; i < 100; ++i) {
    const Column column = some_column(random);
    const UnitScale scale(column);
    std::vector<double> grid = {0}, f;
    for (const double knot : column.knots) grid.push_back(scale.place_of(knot));
    grid.push_back(1);
    for (std::size_t j = 0; j < grid.size(); ++j) f.push_back(normal(random));

    std::vector<double> weights = {f.back() - f.front()};
    for (std::size_t j = 1; j + 1 < grid.size(); ++j)
      weights.push_back(f[j] - f.front() - weights.front() * grid[j]);
    weights.push_back(f.front());

    const std::vector<double> values = values_within(column, random);
    const Table table = table_of(schema_of(column), values);
    for (std::size_t row = 0; row < values.size(); ++row) {
      const double place = scale.place_of(values[row]);
      std::size_t right = 1;
      while (grid[right] < place) ++right;
      const double share = (place - grid[right - 1]) / (grid[right] - grid[right - 1]);
      const std::vector<double> encoded = plain_row(table.rows, row);
      double z = 0;
      for (std::size_t j = 0; j < encoded.size(); ++j) z += weights[j] * encoded[j];
      EXPECT_NEAR(z, (1 - share) * f[right - 1] + share * f[right], 1e-12);
    }
  }
}

// --- schema

TEST(Knots, ASchemaReadsThemBack) {
  const Schema schema = with_number("low = -1, high = 1e6, scale = \"log\", knots = [0.1, 3, 1e5]");
  EXPECT_THAT(schema.columns[0].knots, ElementsAre(0.1, 3, 1e5));
  const std::string text = to_toml(schema);
  EXPECT_THAT(text, HasSubstr(", scale = \"log\", knots = [0.1, 3, 100000]"));
  EXPECT_EQ(parse_schema(text).columns[0].knots, schema.columns[0].knots);
  EXPECT_EQ(to_toml(parse_schema(text)), text);
  const Schema none = with_number("low = 0, high = 1, knots = []");
  EXPECT_EQ(to_toml(none).find("knots"), std::string::npos);
  EXPECT_THAT(encoded_column_names(none), ElementsAre("x"));
}

TEST(Knots, NamesDifferAsTheKnotsDo) {
  const double knot = 0.1;
  Schema schema = with_number("low = 0, high = 1");
  schema.columns[0].knots = {knot, std::nextafter(knot, 1)};
  EXPECT_THAT(encoded_column_names(schema), ElementsAre("x", "x near 0.1", "x near 0.10000000000000002"));
}

// --- where they come from

Column bounded(double low, double high, Scale scale = Scale::linear) {
  Column column;
  column.name = "x";
  column.type = ColumnType::number;
  column.low = low;
  column.high = high;
  column.scale = scale;
  return column;
}

TEST(DyadicKnots, AreTheNumbersWithTheGivenPlaces) {
  EXPECT_THAT(dyadic_knots(bounded(10, 74), kCoarsePlaces), ElementsAre(14, 26, 42, 58));
  EXPECT_THAT(dyadic_knots(bounded(10, 74), kFinePlaces), ElementsAre(11, 14, 18, 26, 34, 42, 50, 58));
  EXPECT_THAT(dyadic_knots(bounded(-1, 254, Scale::log), kCoarsePlaces),
              ElementsAre(DoubleNear(std::sqrt(2) - 2, 1e-14), DoubleNear(2, 1e-14), DoubleNear(14, 1e-13),
                          DoubleNear(62, 1e-12)));
  EXPECT_THAT(dyadic_knots(bounded(0, 1), {}), IsEmpty());
}

TEST(DyadicKnots, TheFineGridHoldsTheCoarseOne) {
  EXPECT_THAT(kFinePlaces, ::testing::IsSupersetOf(kCoarsePlaces));
}

TEST(DyadicKnots, WhatRoundingMovesOntoAnotherOrABoundIsLeftOut) {
  const double eps = std::numeric_limits<double>::epsilon();
  EXPECT_THAT(dyadic_knots(bounded(1, 1 + eps), kFinePlaces), IsEmpty());
  EXPECT_THAT(dyadic_knots(bounded(1, 1 + 2 * eps), kFinePlaces), ElementsAre(1 + eps));
  EXPECT_THAT(dyadic_knots(bounded(1, 1 + 4 * eps), kFinePlaces),
              ElementsAre(1 + eps, 1 + 2 * eps, 1 + 3 * eps));
  EXPECT_THAT(dyadic_knots(bounded(0, std::numeric_limits<double>::denorm_min()), kFinePlaces), IsEmpty());
}

TEST(DyadicKnots, AreSoundForAllBounds) {
  std::mt19937_64 random(3);
  const double largest = std::numeric_limits<double>::max();
  std::vector<Column> columns = {bounded(-largest, largest), bounded(0, largest), bounded(-largest, 1),
                                 bounded(0, 1e-320), bounded(1e300, largest)};
  for (int i = 0; i < 2000; ++i) {
    const auto some = [&] {
      return std::ldexp(static_cast<double>(random() % 4096) - 2048,
                        static_cast<int>(random() % 2000) - 1010);
    };
    const double a = some(), b = random() % 4 == 0 ? std::nextafter(a, 1e300) : some();
    if (a != b) columns.push_back(bounded(std::min(a, b), std::max(a, b)));
  }
  for (Column& column : columns) {
    for (const Scale scale : {Scale::linear, Scale::log}) {
      for (const std::span<const double> places :
           {std::span<const double>(kCoarsePlaces), std::span<const double>(kFinePlaces)}) {
        column.scale = scale;
        column.knots = dyadic_knots(column, places);
        EXPECT_LE(column.knots.size(), places.size());
        Schema schema = with_number("low = 0, high = 1");
        schema.columns[0] = column;
        EXPECT_FALSE(find_fault(schema)) << column.low << " " << column.high;
      }
    }
  }
}

TEST(DyadicKnots, PlacesAreIncreasingAndInside) {
  const auto refused = [](std::vector<double> places) {
    return refusal([&] { dyadic_knots(bounded(0, 1), places); });
  };
  EXPECT_EQ(refused({0}), "knots: expected 0 < place < 1, got place=0");
  EXPECT_EQ(refused({0.5, 1}), "knots: expected 0.5 < place < 1, got place=1");
  EXPECT_EQ(refused({0.5, 0.25}), "knots: expected 0.5 < place < 1, got place=0.25");
  EXPECT_EQ(refused({NAN}), "knots: expected 0 < place < 1, got place=nan");
}

}  // namespace
}  // namespace ration::testing
