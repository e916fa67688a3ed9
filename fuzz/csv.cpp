// Delimited files, plain or gzip, under schemas that use every kind of column. The first two bytes choose the
// schema and how bad rows are treated.
#include "support/tables.h"

using namespace ration;

namespace {

constexpr const char* kColumns = R"(
label = "rich"
missing = ["?", "NA"]
columns = [
  { name = "age", type = "number", low = 10, high = 60, fill = 35 },
  { name = "work", type = "category", categories = ["field", "shop"], missing_category = true },
  { name = "note", type = "ignore" },
  { name = "rich", type = "category", categories = ["no", "yes"] },
]
)";

constexpr const char* kMoreColumns = R"(
delimiter = ";"
skip_lines = 1
skip_lines_starting = "#"
max_row_norm = 1
label = "pay"
columns = [
  { name = "a", type = "number", low = -1e3, high = 1e300, scale = "log", out_of_bounds = "clamp" },
  { name = "b", type = "number", low = 0, high = 9, cuts = [1, 2.5, 8] },
  { name = "c", type = "category", categories = ["x", "y", "z"], unknown_category = "other", aliases = { ex = "x" } },
  { name = "pay", type = "number", low = 0, high = 100, above = 50, out_of_bounds = "clamp" },
]
)";

const data::Schema& schema_number(std::size_t i) {
  static const data::Schema schemas[] = {
      data::parse_schema(kColumns),
      data::parse_schema(std::string("header = false\ndelimiter = \" \"\n") + kColumns),
      data::parse_schema(std::string("trim = false\ndelimiter = \"\\t\"\nbias = false\n") + kColumns),
      data::parse_schema(kMoreColumns)};
  return schemas[i % std::size(schemas)];
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const fuzz::Folder folder;
  fuzz::Draw draw(data, size);
  const data::Schema& schema = schema_number(draw.byte());
  const data::ReadOptions options = fuzz::draw_read_options(draw);
  fuzz::read_and_check(folder.write("rows.csv", draw.rest()), schema, options);
  return 0;
}
