#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "data/complaint.h"
#include "data/delimited.h"
#include "data/table_builder.h"
#include "ration/data/table.h"

namespace ration::data {
namespace {

// For each field of the file, the schema's column.
using FieldColumns = std::vector<std::size_t>;

std::size_t column_named(const Schema& schema, std::string_view name, const Place& place) {
  for (std::size_t i = 0; i < schema.columns.size(); ++i) {
    if (schema.columns[i].name == name) return i;
  }
  place.refuse_header(name, "in the header but not in the schema",
                      "; add it there with type = \"ignore\" to leave it out");
}

// A first line with none of the schema's names is a row, or was split by the wrong character. As it may be a
// row, this is no public fault.
void require_a_header(const Schema& schema, const std::vector<std::string_view>& names, const Place& place) {
  const auto is_known = [&](std::string_view name) {
    return std::any_of(schema.columns.begin(), schema.columns.end(),
                       [name](const Column& column) { return column.name == name; });
  };
  if (std::any_of(names.begin(), names.end(), is_known)) return;
  throw place.fault(
      fmt::format(
          "expected the schema's column names in the first line, got none of them in {} fields, {} first",
          names.size(), in_quotes(names.empty() ? "" : names.front())),
      "; if it is a row, set header = false in the schema; if fields are separated by something else, set "
      "delimiter");
}

FieldColumns columns_by_header(const Schema& schema, const ReadOptions& options,
                               const std::vector<std::string_view>& names, const Place& place) {
  require_a_header(schema, names, place);
  FieldColumns columns;
  for (const std::string_view name : names) {
    const std::size_t column = column_named(schema, name, place);
    if (std::find(columns.begin(), columns.end(), column) != columns.end())
      place.refuse_header(name, "twice in the header");
    columns.push_back(column);
  }
  for (std::size_t i = 0; i < schema.columns.size(); ++i) {
    // Rows to predict for may also lack what nobody looks at, such as an id.
    const bool is_used = i != schema.label_index() && schema.columns[i].type != ColumnType::ignore;
    if (!options.labels && !is_used) continue;
    if (std::find(columns.begin(), columns.end(), i) != columns.end()) continue;
    place.refuse_header(schema.columns[i].name, "missing from the header");
  }
  return columns;
}

// In the schema's order; without its label if the file has one field less and need not have it.
FieldColumns columns_by_place(const Schema& schema, const ReadOptions& options, std::size_t fields) {
  const bool label_absent = !options.labels && fields + 1 == schema.columns.size();
  FieldColumns columns;
  for (std::size_t i = 0; i < schema.columns.size(); ++i) {
    if (!label_absent || i != schema.label_index()) columns.push_back(i);
  }
  return columns;
}

RowFault wrong_width(std::size_t fields, std::size_t expected, const Place& place) {
  return place.fault(fmt::format("expected {} fields, got {}", expected, fields),
                     fields == 1 ? "; is the delimiter the schema's?" : "");
}

void add_row(TableBuilder& builder, const FieldColumns& columns, const std::vector<std::string_view>& fields,
             const Place& place) {
  if (fields.size() != columns.size()) {
    builder.refuse_row(wrong_width(fields.size(), columns.size(), place));
  } else {
    for (std::size_t i = 0; i < columns.size(); ++i) builder.cell(columns[i], fields[i], place);
  }
  builder.end_row();
}

DelimitedOptions delimited_options(const Schema& schema) {
  return {schema.delimiter, schema.trim, schema.skip_lines, schema.skip_lines_starting};
}

}  // namespace

Table read_csv(const std::string& path, const Schema& schema, const ReadOptions& options) {
  TableBuilder builder(schema, options);
  DelimitedReader reader(path, delimited_options(schema));
  std::optional<FieldColumns> columns;
  while (reader.next()) {
    const Place place{reader.path(), reader.line()};
    if (!columns && schema.header) {
      columns = columns_by_header(schema, options, reader.fields(), place);
      continue;
    }
    if (!columns) columns = columns_by_place(schema, options, reader.fields().size());
    add_row(builder, *columns, reader.fields(), place);
  }
  return std::move(builder).finish(path);
}

}  // namespace ration::data
