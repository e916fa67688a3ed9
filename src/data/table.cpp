#include "ration/data/table.h"

#include <fmt/format.h>

#include "data/cell_encoder.h"
#include "data/complaint.h"
#include "data/named_data.h"
#include "data/scattering.h"

namespace ration::data {
namespace {

FileFormat format_by_name(std::string_view path) {
  if (path.ends_with(".gz")) path.remove_suffix(3);
  if (path.ends_with(".npy")) return FileFormat::npy;
  if (path.ends_with(".npz")) return FileFormat::npz;
  return FileFormat::delimited;
}

void append_image_names(const ImageShape& image, std::vector<std::string>& names) {
  const bool pixels = image.features == ImageFeatures::pixels;
  const std::size_t count = pixels ? image.pixels() : scatter_features(image);
  for (std::size_t i = 0; i < count; ++i)
    names.push_back(fmt::format("{} {}", pixels ? "pixel" : "scatter", i));
}

void append_text_names(const TextShape& text, std::vector<std::string>& names) {
  const bool bag = text.features == TextFeatures::bag;
  const std::size_t count = bag ? text.vocabulary - 1 : text.length;
  for (std::size_t i = 1; i <= count; ++i) names.push_back(fmt::format("{} {}", bag ? "token" : "place", i));
}

void require_file_name(const std::string& path, const Schema& schema) {
  if (parse_data_name(path).kind == DataKind::file) return;
  refuse(path, fmt::format("expected the name of a file, since {} describes a table", schema.file));
}

}  // namespace

std::vector<std::string> encoded_column_names(const Schema& schema) {
  require_sound(schema);
  std::vector<std::string> names;
  if (schema.indexed_features) {
    for (std::size_t i = 1; i <= schema.indexed_features->count; ++i)
      names.push_back(fmt::format("feature {}", i));
  }
  if (schema.image) append_image_names(*schema.image, names);
  if (schema.text) append_text_names(*schema.text, names);
  for (const Column& column : schema.columns) {
    if (column.name == schema.label) continue;
    for (std::string& name : CellEncoder(column, schema.missing).names()) names.push_back(std::move(name));
  }
  if (schema.bias) names.push_back("(bias)");
  return names;
}

Table read_table(const std::string& path, const Schema& schema, const ReadOptions& options) {
  if (!schema.image && !schema.text) require_file_name(path, schema);
  const FileFormat format = schema.format == FileFormat::by_name ? format_by_name(path) : schema.format;
  if (options.units && format != FileFormat::delimited)
    throw PublicFault(path + ": unit: expected a delimited file, which has a column for it");
  switch (format) {
    case FileFormat::libsvm:
      return read_libsvm(path, schema, options);
    case FileFormat::npy:
      return read_npy(path, schema, options);
    case FileFormat::npz:
      return read_npz(path, schema, options);
    case FileFormat::images:
      return read_images(path, schema, options);
    case FileFormat::text:
      return read_texts(path, schema, options);
    case FileFormat::delimited:
    case FileFormat::by_name:
      break;
  }
  return read_csv(path, schema, options);
}

}  // namespace ration::data
