#include "data/add_hats.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "ration/base/error.h"
#include "ration/data/table.h"
#include "support/child_process.h"

namespace ration::testing {
namespace {

data::Schema schema_with(const std::string& knots) {
  return data::parse_schema(R"(
label = "y"
columns = [
  { name = "kind", type = "category", categories = ["a", "b", "c"] },
  { name = "age", type = "number", low = 10, high = 90)" +
                            knots + R"( },
  { name = "money", type = "number", low = 0, high = 1e6, scale = "log" },
  { name = "y", type = "category", categories = ["no", "yes"] },
]
)");
}

// As the readers would make them.
std::vector<double> entries(const Rows& rows, std::size_t row) {
  std::vector<double> all(rows.columns(), 0.0);
  rows.for_each_entry(row, [&](std::size_t column, double value) { all[column] = value; });
  return all;
}

data::Table read(const std::string& csv, const data::Schema& schema) {
  return data::read_table(csv, schema);
}

TEST(AddHats, GivesWhatReadingByTheNewSchemaGives) {
  const data::Schema before = schema_with("");
  const data::Schema after = schema_with(", knots = [15, 30, 50]");
  const TemporaryFolder folder;
  std::string csv = "kind,age,money,y\n";
  for (int i = 0; i <= 80; ++i) {
    csv += fmt::format("{},{},{},{}\n", "abc"[i % 3], 10 + i, i * i * 100, i % 2 == 0 ? "no" : "yes");
  }
  const std::string path = folder.write("rows.csv", csv);
  const Rows hats = data::add_hats(read(path, before).rows, before, after);
  const Rows expected = read(path, after).rows;
  ASSERT_EQ(hats.count(), expected.count());
  ASSERT_EQ(hats.columns(), expected.columns());
  for (std::size_t row = 0; row < hats.count(); ++row) {
    EXPECT_EQ(entries(hats, row), entries(expected, row)) << row;
    EXPECT_EQ(hats.labels()[row], expected.labels()[row]);
  }
}

TEST(AddHats, WithoutNewKnotsChangesNothing) {
  const data::Schema schema = schema_with(", knots = [30]");
  const Rows rows = Rows::dense(7, {1, 0, 0, 0.25, 1, 0.5, 1}, {1});
  EXPECT_EQ(entries(data::add_hats(rows, schema, schema), 0), entries(rows, 0));
}

TEST(AddHats, RefusesRowsThatAreNotOfTheSchema) {
  const Rows rows = Rows::dense(2, {1, 0}, {1});
  EXPECT_THROW(data::add_hats(rows, schema_with(""), schema_with(", knots = [30]")), InputError);
}

}  // namespace
}  // namespace ration::testing
