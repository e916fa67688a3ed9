// Schemas from TOML. Every complaint names file, line and key; rules about values live in schema.cpp.
#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <initializer_list>
#include <utility>

#include "base/check.h"
#include "data/byte_source.h"
#include "data/complaint.h"
#include "ration/data/schema.h"

namespace ration::data {
namespace {

// One TOML table while it is read: remembers which keys were asked for, so that finish() can refuse the
// others.
class Keys {
 public:
  Keys(const toml::table& table, const std::string& file, std::string where)
      : table_(table), file_(file), where_(std::move(where)) {}

  const toml::node* find(std::string_view key) {
    known_.emplace_back(key);
    return table_.get(key);
  }

  void read(std::string_view key, bool& out) { read_as<bool>(key, out, "true or false"); }
  void read(std::string_view key, std::string& out) { read_as<std::string>(key, out, "a text"); }
  void read(std::string_view key, double& out) {
    if (const toml::node* node = find(key)) out = number(key, *node);
  }
  void read(std::string_view key, std::optional<double>& out) {
    if (const toml::node* node = find(key)) out = number(key, *node);
  }
  void read_count(std::string_view key, std::uint64_t& out) {
    const toml::node* node = find(key);
    if (node == nullptr) return;
    const auto value = node->value_exact<std::int64_t>();
    if (!value || *value < 0) complain(key, *node, "expected a whole number >= 0");
    out = static_cast<std::uint64_t>(*value);
  }
  // One text or a list of them; whole numbers count as their text, so that classes may be written [-1, 1].
  void read(std::string_view key, std::vector<std::string>& out) {
    const toml::node* node = find(key);
    if (node == nullptr) return;
    out.clear();
    if (!node->is_array()) {
      out.push_back(text(key, *node));
      return;
    }
    for (const toml::node& item : *node->as_array()) out.push_back(text(key, item));
  }
  void read(std::string_view key, std::vector<double>& out) {
    const toml::node* node = find(key);
    if (node == nullptr) return;
    if (!node->is_array()) complain(key, *node, "expected a list of numbers");
    for (const toml::node& item : *node->as_array()) out.push_back(number(key, item));
  }
  void read(std::string_view key, std::map<std::string, std::string>& out) {
    const toml::node* node = find(key);
    if (node == nullptr) return;
    if (!node->is_table()) complain(key, *node, "expected { \"other spelling\" = \"category\" }");
    for (const auto& [spelling, item] : *node->as_table()) out.emplace(spelling.str(), text(key, item));
  }
  template <typename Choice>
  void read(std::string_view key, Choice& out,
            std::initializer_list<std::pair<const char*, Choice>> choices) {
    const toml::node* node = find(key);
    if (node == nullptr) return;
    const auto value = node->value_exact<std::string>();
    std::string accepted;
    for (const auto& [name, choice] : choices) {
      if (value == name) {
        out = choice;
        return;
      }
      accepted += fmt::format("{}\"{}\"", accepted.empty() ? "" : ", ", name);
    }
    complain(key, *node, fmt::format("expected one of {}", accepted));
  }

  template <HasNames Enum>
  void read_named(std::string_view key, Enum& out) {
    const toml::node* node = find(key);
    if (node == nullptr) return;
    const std::string value = node->value_exact<std::string>().value_or("");
    if (const auto found = find_named<Enum>(value)) return void(out = *found);
    const auto names = names_of<Enum>();
    complain(key, *node,
             fmt::format("expected one of {}{}", fmt::join(names, ", "), did_you_mean(value, names)));
  }

  std::string text(std::string_view key, const toml::node& node) const {
    if (const auto value = node.value_exact<std::string>()) return *value;
    if (const auto value = node.value_exact<std::int64_t>()) return std::to_string(*value);
    complain(key, node, "expected a text or a whole number");
  }

  // What is left over was misspelt or does not belong here.
  void finish() const {
    for (const auto& [key, node] : table_) {
      if (std::find(known_.begin(), known_.end(), key.str()) != known_.end()) continue;
      std::string accepted;
      for (const std::string& name : known_) accepted += (accepted.empty() ? "" : ", ") + name;
      refuse(file_, key.source().begin.line,
             fmt::format("{}unknown key {}; expected one of {}", where_, in_quotes(key.str()), accepted));
    }
  }

  [[noreturn]] void complain(std::string_view key, const toml::node& node, std::string_view rule) const {
    refuse(file_, node.source().begin.line, fmt::format("{}{}: {}{}", where_, key, rule, got(node)));
  }

 private:
  template <typename Value, typename Out>
  void read_as(std::string_view key, Out& out, std::string_view rule) {
    const toml::node* node = find(key);
    if (node == nullptr) return;
    const auto value = node->value_exact<Value>();
    if (!value) complain(key, *node, fmt::format("expected {}", rule));
    out = *value;
  }

  double number(std::string_view key, const toml::node& node) const {
    if (!node.is_number()) complain(key, node, "expected a number");
    return *node.value<double>() + 0.0;  // -0 becomes 0, as which it would be read back
  }

  static std::string got(const toml::node& node) {
    if (const auto value = node.value_exact<std::string>()) return ", got " + in_quotes(*value);
    if (const auto value = node.value_exact<bool>()) return *value ? ", got true" : ", got false";
    if (const auto value = node.value<double>()) return ", got " + show(*value);
    return node.is_array() ? ", got a list" : node.is_table() ? ", got a table" : "";
  }

  const toml::table& table_;
  const std::string& file_;
  std::string where_;
  std::vector<std::string> known_;
};

void read_fill(Keys& keys, Column& column) {
  const toml::node* node = keys.find("fill");
  if (node == nullptr) return;
  if (column.type == ColumnType::number) {
    if (!node->is_number()) keys.complain("fill", *node, "expected a number");
    column.fill = *node->value<double>() + 0.0;
  } else {
    column.fill_category = keys.text("fill", *node);
  }
}

void read_number(Keys& keys, const toml::table& table, Column& column, const Schema& schema) {
  for (const char* bound : {"low", "high"}) {
    if (table.contains(bound)) continue;
    refuse(
        schema.file, table.source().begin.line,
        fmt::format("column {}: {} is needed: the public bounds of a number", in_quotes(column.name), bound));
  }
  keys.read("low", column.low);
  keys.read("high", column.high);
  keys.read("scale", column.scale, {{"linear", Scale::linear}, {"log", Scale::log}});
  keys.read("cuts", column.cuts);
  keys.read("knots", column.knots);
  keys.read("above", column.above);
  keys.read("out_of_bounds", column.out_of_bounds,
            {{"error", OutOfBounds::error}, {"clamp", OutOfBounds::clamp}});
}

void read_category(Keys& keys, Column& column) {
  keys.read("categories", column.categories);
  keys.read("aliases", column.aliases);
  keys.read("missing_category", column.missing_category);
  keys.read("unknown_category", column.unknown_category,
            {{"error", UnknownCategory::error}, {"other", UnknownCategory::other}});
}

// `defaults` carries the choices made for the whole table.
Column read_column(const toml::table& table, const Schema& schema, const Column& defaults) {
  Column column = defaults;
  if (const auto name = table["name"].value_exact<std::string>()) column.name = *name;
  Keys keys(table, schema.file, fmt::format("column {}: ", in_quotes(column.name)));
  keys.read("name", column.name);
  if (!table.contains("type")) {
    refuse(schema.file, table.source().begin.line,
           fmt::format("column {}: type is needed: number, category or ignore", in_quotes(column.name)));
  }
  keys.read(
      "type", column.type,
      {{"number", ColumnType::number}, {"category", ColumnType::category}, {"ignore", ColumnType::ignore}});
  if (column.type == ColumnType::number) read_number(keys, table, column, schema);
  if (column.type == ColumnType::category) read_category(keys, column);
  if (column.type != ColumnType::ignore) read_fill(keys, column);
  keys.finish();
  return column;
}

void read_delimiter(Keys& keys, Schema& schema) {
  std::string delimiter(1, schema.delimiter);
  keys.read("delimiter", delimiter);
  if (delimiter.size() != 1) keys.complain("delimiter", *keys.find("delimiter"), "expected one character");
  schema.delimiter = delimiter[0];
}

void read_layout(Keys& keys, Schema& schema) {
  keys.read_named("format", schema.format);
  read_delimiter(keys, schema);
  keys.read("header", schema.header);
  keys.read("trim", schema.trim);
  keys.read_count("skip_lines", schema.skip_lines);
  keys.read("skip_lines_starting", schema.skip_lines_starting);
  keys.read("missing", schema.missing);
  keys.read("features_array", schema.features_array);
  keys.read("labels_array", schema.labels_array);
  keys.read("label", schema.label);
  keys.read("bias", schema.bias);
  keys.read("max_row_norm", schema.max_row_norm);
  keys.read("unit", schema.unit);
  std::uint64_t rows_per_unit = 0;
  keys.read_count("rows_per_unit", rows_per_unit);
  schema.rows_per_unit = rows_per_unit;
}

Column table_wide_choices(Keys& keys) {
  Column defaults;
  keys.read("out_of_bounds", defaults.out_of_bounds,
            {{"error", OutOfBounds::error}, {"clamp", OutOfBounds::clamp}});
  keys.read("unknown_category", defaults.unknown_category,
            {{"error", UnknownCategory::error}, {"other", UnknownCategory::other}});
  return defaults;
}

void read_features(Keys& keys, Schema& schema, const Column& defaults) {
  const toml::node* node = keys.find("features");
  if (node == nullptr) return;
  if (!node->is_table()) keys.complain("features", *node, "expected a table with count, low and high");
  IndexedFeatures features{.out_of_bounds = defaults.out_of_bounds};
  Keys inner(*node->as_table(), schema.file, "features: ");
  std::uint64_t count = 0;
  inner.read_count("count", count);
  inner.read("low", features.low);
  inner.read("high", features.high);
  inner.finish();
  features.count = count;
  schema.indexed_features = features;
}

void read_image(Keys& keys, Schema& schema) {
  const toml::node* node = keys.find("image");
  if (node == nullptr) return;
  if (!node->is_table()) keys.complain("image", *node, "expected a table with channels, height and width");
  ImageShape image;
  Keys inner(*node->as_table(), schema.file, "image: ");
  inner.read_count("channels", image.channels);
  inner.read_count("height", image.height);
  inner.read_count("width", image.width);
  inner.read("features", image.features,
             {{"pixels", ImageFeatures::pixels}, {"scatter", ImageFeatures::scatter}});
  inner.finish();
  schema.image = image;
}

void read_text(Keys& keys, Schema& schema) {
  const toml::node* node = keys.find("text");
  if (node == nullptr) return;
  if (!node->is_table()) keys.complain("text", *node, "expected a table with tokens, features and the like");
  TextShape text;
  Keys inner(*node->as_table(), schema.file, "text: ");
  inner.read("tokens", text.tokens, {{"words", Tokens::words}, {"bytes", Tokens::bytes}});
  inner.read("features", text.features, {{"bag", TextFeatures::bag}, {"ids", TextFeatures::ids}});
  if (text.tokens == Tokens::bytes) text.vocabulary = TextShape::kByteVocabulary;
  inner.read_count("vocabulary", text.vocabulary);
  inner.read_count("length", text.length);
  inner.read("label_first", text.label_first);
  inner.finish();
  schema.text = text;
}

// Returns the line each column is described on.
std::vector<std::uint64_t> read_columns(Keys& keys, Schema& schema, const Column& defaults) {
  std::vector<std::uint64_t> lines;
  const toml::node* node = keys.find("columns");
  if (node == nullptr) return lines;
  if (!node->is_array()) keys.complain("columns", *node, "expected a list of tables");
  for (const toml::node& item : *node->as_array()) {
    if (!item.is_table()) keys.complain("columns", item, "expected tables with name and type");
    schema.columns.push_back(read_column(*item.as_table(), schema, defaults));
    lines.push_back(item.source().begin.line);
  }
  return lines;
}

// Choices for the whole table do not reach the label: it is never clamped or folded into "other" unless it
// says so.
void restore_label_rules(Schema& schema, const toml::table& root) {
  const toml::array* columns = root["columns"].as_array();
  for (std::size_t i = 0; columns != nullptr && i < schema.columns.size(); ++i) {
    const toml::table& table = *columns->get(i)->as_table();
    if (schema.columns[i].name != schema.label) continue;
    if (!table.contains("out_of_bounds")) schema.columns[i].out_of_bounds = OutOfBounds::error;
    if (!table.contains("unknown_category")) schema.columns[i].unknown_category = UnknownCategory::error;
  }
}

toml::table parse(std::string_view toml, const std::string& file) {
  try {
    return toml::parse(toml, file);
  } catch (const toml::parse_error& error) {
    const std::string_view fault = error.description();
    const bool code = fault.find("leading zero") != std::string_view::npos;
    refuse(file, error.source().begin.line,
           fmt::format("not TOML: {}{}", one_short_line(fault), code ? "; write codes in quotes" : ""));
  }
}

}  // namespace

Schema parse_schema(std::string_view toml, std::string file) {
  Schema schema;
  schema.file = std::move(file);
  const toml::table root = parse(toml, schema.file);
  Keys keys(root, schema.file, "");
  read_layout(keys, schema);
  const Column defaults = table_wide_choices(keys);
  read_features(keys, schema, defaults);
  read_image(keys, schema);
  read_text(keys, schema);
  const std::vector<std::uint64_t> lines = read_columns(keys, schema, defaults);
  keys.finish();
  restore_label_rules(schema, root);
  const auto fault = find_fault(schema);
  if (fault && fault->column) {
    refuse(schema.file, lines[*fault->column], schema.columns[*fault->column].name, fault->message);
  }
  if (fault) {
    const toml::node* label = root.get("label");
    const bool about_label = fault->message.starts_with("label") && label != nullptr;
    refuse(schema.file, about_label ? label->source().begin.line : 1, fault->message);
  }
  return schema;
}

Schema read_schema(const std::string& path) {
  constexpr std::uint64_t kMostBytes = 64u << 20;
  ByteSource source(path);
  const std::vector<char> text = read_all(source, kMostBytes);
  return parse_schema({text.data(), text.size()}, path);
}

}  // namespace ration::data
