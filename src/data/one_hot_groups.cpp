#include "data/one_hot_groups.h"

#include <algorithm>

#include "data/cell_encoder.h"
#include "ration/data/table.h"

namespace ration::data {

std::vector<OneHotGroup> one_hot_groups(const Schema& schema) {
  std::vector<OneHotGroup> groups;
  if (schema.max_row_norm || schema.indexed_features || schema.image || schema.text) return groups;
  std::size_t first = 0;
  for (const Column& column : schema.columns) {
    if (column.name == schema.label) continue;
    const std::size_t count = CellEncoder(column, schema.missing).names().size();
    const bool is_one_hot = column.type == ColumnType::category || !column.cuts.empty();
    if (is_one_hot && count > 0) groups.push_back({first, count});
    first += count;
  }
  return groups;
}

// "workclass=Private" and "age near 30" begin with the column's name and one more character.
std::vector<EncodedColumn> encoded_columns(const Schema& schema) {
  std::vector<EncodedColumn> columns;
  for (std::string& name : encoded_column_names(schema)) columns.push_back({std::move(name), ""});
  if (schema.indexed_features || schema.image || schema.text) return columns;
  std::size_t at = 0;
  for (const Column& column : schema.columns) {
    if (column.name == schema.label) continue;
    for (const std::string& name : CellEncoder(column, schema.missing).names()) {
      EncodedColumn& one = columns[at++];
      one.column = column.name;
      if (name != column.name) one.category = name.substr(std::min(name.size(), column.name.size() + 1));
    }
  }
  return columns;
}

}  // namespace ration::data
