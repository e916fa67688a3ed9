#include <fmt/format.h>

#include "data/byte_source.h"
#include "data/complaint.h"
#include "data/numpy_array.h"
#include "data/table_builder.h"
#include "data/zip.h"
#include "ration/data/table.h"

namespace ration::data {
namespace {

constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 40;

std::vector<char> bytes_of(const std::string& path) {
  ByteSource source(path);
  return read_all(source, kMostBytes);
}

void require_columns(const NumpyArray& array, std::size_t expected, const std::string& what,
                     const std::string& path) {
  if (array.columns == expected) return;
  throw PublicFault(fmt::format("{}: expected {} columns{}, got {}", path, expected, what, array.columns));
}

std::vector<std::size_t> all_but(const Schema& schema, std::size_t left_out) {
  std::vector<std::size_t> columns;
  for (std::size_t i = 0; i < schema.columns.size(); ++i) {
    if (i != left_out) columns.push_back(i);
  }
  return columns;
}

void add_cells(TableBuilder& builder, const NumpyArray& array, const std::vector<std::size_t>& columns,
               const Place& place) {
  const double* row = array.values.data() + (place.number - 1) * array.columns;
  for (std::size_t i = 0; i < columns.size(); ++i) builder.cell(columns[i], row[i], place);
}

Place row_place(const std::string& path, std::size_t row) {
  return {path, row + 1, false};
}

}  // namespace

Table read_npy(const std::string& path, const Schema& schema, const ReadOptions& options) {
  TableBuilder builder(schema, options);
  const NumpyArray array = parse_numpy(bytes_of(path), path);
  const bool label_absent = !options.labels && array.columns + 1 == schema.columns.size();
  const auto columns = all_but(schema, label_absent ? schema.label_index() : schema.columns.size());
  require_columns(array, columns.size(), "", path);
  for (std::size_t row = 0; row < array.rows; ++row) {
    add_cells(builder, array, columns, row_place(path, row));
    builder.end_row();
  }
  return std::move(builder).finish(path);
}

Table read_npz(const std::string& path, const Schema& schema, const ReadOptions& options) {
  TableBuilder builder(schema, options);
  const std::vector<char> archive = bytes_of(path);
  const auto array_named = [&](const std::string& name) {
    return parse_numpy(zip_member(archive, name + ".npy", path), fmt::format("{}: {}", path, name));
  };
  const NumpyArray features = array_named(schema.features_array);
  const NumpyArray labels = options.labels ? array_named(schema.labels_array) : NumpyArray{};
  const auto columns = all_but(schema, schema.label_index());
  require_columns(features, columns.size(), " in " + schema.features_array, path);
  if (options.labels) {
    require_columns(labels, 1, " in " + schema.labels_array, path);
    if (labels.rows != features.rows) {
      refuse(path, fmt::format("expected as many labels as rows, got {} labels and {} rows", labels.rows,
                               features.rows));
    }
  }
  for (std::size_t row = 0; row < features.rows; ++row) {
    const Place place = row_place(path, row);
    add_cells(builder, features, columns, place);
    if (options.labels) builder.cell(schema.label_index(), labels.values[row], place);
    builder.end_row();
  }
  return std::move(builder).finish(path);
}

}  // namespace ration::data
