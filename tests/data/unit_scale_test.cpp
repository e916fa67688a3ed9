#include "data/unit_scale.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <utility>

#include "support/small_table.h"

namespace ration::testing {
namespace {

using namespace ration::data;

constexpr double kLargest = std::numeric_limits<double>::max();
constexpr double kSmallest = std::numeric_limits<double>::denorm_min();

Column number(double low, double high, Scale scale) {
  Column column;
  column.name = "x";
  column.type = ColumnType::number;
  column.low = low;
  column.high = high;
  column.scale = scale;
  return column;
}

// Ordinary bounds, and those between which differences overflow or vanish.
const std::pair<double, double> kBounds[] = {{0, 1},
                                             {17, 90},
                                             {-3, 5e6},
                                             {-kLargest, kLargest},
                                             {-1.7e308, 1e308},
                                             {0, kLargest},
                                             {-kLargest, 0},
                                             {1, std::nextafter(1, 2)},
                                             {0, kSmallest},
                                             {-kSmallest, 2 * kSmallest},
                                             {kLargest / 2, kLargest}};

TEST(UnitScale, HasTheFormulasOfTheSchema) {
  const UnitScale linear(number(-10, 30, Scale::linear));
  EXPECT_EQ(linear.place_of(0), 0.25);
  EXPECT_EQ(linear.value_at(0.25), 0);
  const UnitScale log(number(-1, 98, Scale::log));
  EXPECT_NEAR(log.place_of(8), 0.5, 1e-15);
  EXPECT_NEAR(log.value_at(0.5), 8, 1e-13);
}

TEST(UnitScale, TakesTheBoundsToTheEndsAndBack) {
  for (const Scale scale : {Scale::linear, Scale::log}) {
    for (const auto& [low, high] : kBounds) {
      const UnitScale unit(number(low, high, scale));
      EXPECT_EQ(unit.place_of(low), 0) << low << " " << high;
      EXPECT_EQ(unit.place_of(high), 1) << low << " " << high;
      EXPECT_EQ(unit.value_at(0), low) << low << " " << high;
      EXPECT_LE(unit.value_at(1), high);
      EXPECT_NEAR(unit.place_of(unit.value_at(1)), 1, 1e-15) << low << " " << high;
    }
  }
}

TEST(UnitScale, IsMonotoneAndStaysInside) {
  for (const Scale scale : {Scale::linear, Scale::log}) {
    for (const auto& [low, high] : kBounds) {
      const UnitScale unit(number(low, high, scale));
      double value = low, place = 0;
      for (int i = 1; i <= 1000; ++i) {
        const double next = unit.value_at(i / 1000.0);
        EXPECT_GE(next, value);
        EXPECT_GE(unit.place_of(next), place);
        EXPECT_LE(unit.place_of(next), 1);
        value = next;
        place = unit.place_of(next);
      }
    }
  }
}

TEST(UnitScale, ValuesHaveThePlacesTheyWereMadeFrom) {
  for (const Scale scale : {Scale::linear, Scale::log}) {
    for (const auto& [low, high] : {std::pair{17.0, 90.0}, {0.0, 1e12}, {0.0, kLargest}}) {
      const UnitScale unit(number(low, high, scale));
      for (int i = 0; i <= 64; ++i)
        EXPECT_NEAR(unit.place_of(unit.value_at(i / 64.0)), i / 64.0, 1e-14) << low << " " << high;
    }
  }
}

// log(1 + x - low) where x - low overflows, against long doubles, where it does not.
TEST(UnitScale, LogarithmsOfTheWidestBoundsAreRight) {
  const UnitScale unit(number(-kLargest, kLargest, Scale::log));
  const long double low = -kLargest, range = std::log1p(2.0L * kLargest);
  for (const double value : {-kLargest, -1.7e308, -1e300, -5.0, 0.0, 1e-300, 1e308, kLargest})
    EXPECT_NEAR(unit.place_of(value), static_cast<double>(std::log1p(value - low) / range), 1e-15) << value;
}

TEST(UnitScale, TheReaderUsesIt) {
  const std::string rows = "-1.7e308,1\n0,1\n1.7e308,0\n";
  for (const std::string scale : {"linear", "log"}) {
    const Schema schema = parse_schema(
        "label=\"y\"\nheader=false\nbias=false\ncolumns=[{name=\"a\",type=\"number\",low=-1.7e308,"
        "high=1.7e308,scale=\"" +
        scale + "\"},{name=\"y\",type=\"category\",categories=[0,1]}]");
    const Table table = read_text(rows, schema);
    EXPECT_EQ(plain_row(table.rows, 0)[0], 0);
    EXPECT_NEAR(plain_row(table.rows, 1)[0], scale == "linear" ? 0.5 : 0.99902, 1e-4);
    EXPECT_EQ(plain_row(table.rows, 2)[0], 1);
  }
}

}  // namespace
}  // namespace ration::testing
