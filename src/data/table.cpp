#include "ration/data/table.h"

#include <fmt/format.h>

#include "data/cell_encoder.h"

namespace ration::data {
namespace {

FileFormat format_by_name(std::string_view path) {
  if (path.ends_with(".gz")) path.remove_suffix(3);
  if (path.ends_with(".npy")) return FileFormat::npy;
  if (path.ends_with(".npz")) return FileFormat::npz;
  return FileFormat::delimited;
}

}  // namespace

std::vector<std::string> encoded_column_names(const Schema& schema) {
  require_sound(schema);
  std::vector<std::string> names;
  if (schema.indexed_features) {
    for (std::size_t i = 1; i <= schema.indexed_features->count; ++i)
      names.push_back(fmt::format("feature {}", i));
  }
  for (const Column& column : schema.columns) {
    if (column.name == schema.label) continue;
    for (std::string& name : CellEncoder(column, schema.missing).names()) names.push_back(std::move(name));
  }
  if (schema.bias) names.push_back("(bias)");
  return names;
}

Table read_table(const std::string& path, const Schema& schema, const ReadOptions& options) {
  switch (schema.format == FileFormat::by_name ? format_by_name(path) : schema.format) {
    case FileFormat::libsvm:
      return read_libsvm(path, schema, options);
    case FileFormat::npy:
      return read_npy(path, schema, options);
    case FileFormat::npz:
      return read_npz(path, schema, options);
    case FileFormat::delimited:
    case FileFormat::by_name:
      break;
  }
  return read_csv(path, schema, options);
}

}  // namespace ration::data
