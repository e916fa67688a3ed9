// A schema as TOML, one line per column.
#include <fmt/format.h>

#include "base/check.h"
#include "ration/data/schema.h"

namespace ration::data {
namespace {

// A TOML basic string.
std::string text(const std::string& value) {
  std::string out = "\"";
  for (const char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte == 0x7F) {
      out += fmt::format("\\u{:04X}", byte);
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string list(const std::vector<std::string>& values) {
  std::string out;
  for (const std::string& value : values) out += (out.empty() ? "" : ", ") + text(value);
  return "[" + out + "]";
}

std::string numbers(const std::vector<double>& values) {
  std::string out;
  for (const double value : values) out += (out.empty() ? "" : ", ") + show(value);
  return "[" + out + "]";
}

std::string aliases(const Column& column) {
  std::string out;
  for (const auto& [spelling, category] : column.aliases) {
    out += fmt::format("{}{} = {}", out.empty() ? "" : ", ", text(spelling), text(category));
  }
  return "{ " + out + " }";
}

std::string number_keys(const Column& column) {
  std::string out = fmt::format(", low = {}, high = {}", show(column.low), show(column.high));
  if (column.scale == Scale::log) out += ", scale = \"log\"";
  if (!column.cuts.empty()) out += ", cuts = " + numbers(column.cuts);
  if (!column.knots.empty()) out += ", knots = " + numbers(column.knots);
  if (column.above) out += ", above = " + show(*column.above);
  if (column.fill) out += ", fill = " + show(*column.fill);
  if (column.out_of_bounds == OutOfBounds::clamp) out += ", out_of_bounds = \"clamp\"";
  return out;
}

std::string category_keys(const Column& column) {
  std::string out = ", categories = " + list(column.categories);
  if (!column.aliases.empty()) out += ", aliases = " + aliases(column);
  if (column.fill_category) out += ", fill = " + text(*column.fill_category);
  if (column.missing_category) out += ", missing_category = true";
  if (column.unknown_category == UnknownCategory::other) out += ", unknown_category = \"other\"";
  return out;
}

std::string column_line(const Column& column) {
  const std::string name = text(column.name);
  switch (column.type) {
    case ColumnType::number:
      return fmt::format("  {{ name = {}, type = \"number\"{} }},\n", name, number_keys(column));
    case ColumnType::category:
      return fmt::format("  {{ name = {}, type = \"category\"{} }},\n", name, category_keys(column));
    case ColumnType::ignore:
      break;
  }
  return fmt::format("  {{ name = {}, type = \"ignore\" }},\n", name);
}

std::string layout(const Schema& schema) {
  const Schema defaults;
  std::string out = fmt::format("label = {}\n", text(schema.label));
  if (schema.format != FileFormat::by_name) out += fmt::format("format = \"{}\"\n", to_string(schema.format));
  if (!schema.image && !schema.text)
    out += fmt::format("delimiter = {}\n", text(std::string(1, schema.delimiter)));
  if (!schema.image) out += fmt::format("header = {}\n", schema.header);
  if (!schema.trim) out += "trim = false\n";
  if (schema.skip_lines > 0) out += fmt::format("skip_lines = {}\n", schema.skip_lines);
  if (!schema.skip_lines_starting.empty())
    out += fmt::format("skip_lines_starting = {}\n", text(schema.skip_lines_starting));
  if (!schema.missing.empty()) out += fmt::format("missing = {}\n", list(schema.missing));
  if (schema.features_array != defaults.features_array)
    out += fmt::format("features_array = {}\n", text(schema.features_array));
  if (schema.labels_array != defaults.labels_array)
    out += fmt::format("labels_array = {}\n", text(schema.labels_array));
  if (!schema.bias) out += "bias = false\n";
  if (schema.max_row_norm) out += fmt::format("max_row_norm = {}\n", show(*schema.max_row_norm));
  if (!schema.unit.empty())
    out += fmt::format("unit = {}\nrows_per_unit = {}\n", text(schema.unit), schema.rows_per_unit);
  return out;
}

std::string features(const IndexedFeatures& features) {
  return fmt::format("features = {{ count = {}, low = {}, high = {} }}\n{}", features.count,
                     show(features.low), show(features.high),
                     features.out_of_bounds == OutOfBounds::clamp ? "out_of_bounds = \"clamp\"\n" : "");
}

std::string image(const ImageShape& image) {
  return fmt::format("image = {{ channels = {}, height = {}, width = {}, features = \"{}\" }}\n",
                     image.channels, image.height, image.width,
                     image.features == ImageFeatures::pixels ? "pixels" : "scatter");
}

std::string texts(const TextShape& text) {
  return fmt::format(
      "text = {{ tokens = \"{}\", features = \"{}\", vocabulary = {}, length = {}, label_first = {} }}\n",
      text.tokens == Tokens::words ? "words" : "bytes", text.features == TextFeatures::bag ? "bag" : "ids",
      text.vocabulary, text.length, text.label_first);
}

}  // namespace

std::string to_toml(const Schema& schema) {
  std::string out = layout(schema);
  if (schema.indexed_features) out += features(*schema.indexed_features);
  if (schema.image) out += image(*schema.image);
  if (schema.text) out += texts(*schema.text);
  out += "columns = [\n";
  for (const Column& column : schema.columns) out += column_line(column);
  return out + "]\n";
}

}  // namespace ration::data
