// A model as JSON. Every complaint names file and key.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "data/byte_source.h"
#include "data/complaint.h"
#include "ration/base/error.h"
#include "ration/objectives/network.h"
#include "ration/train/model.h"
#include "train/model_shape.h"

namespace ration {
namespace {

using nlohmann::ordered_json;

constexpr const char* kFormat = "ration model";
constexpr int kFormatVersion = 1;
constexpr const char* kFileName = "model.json";
constexpr std::uint64_t kMostBytes = 1u << 30;

// What stands beside a weight: its encoded column, and its class if each class has weights of its own.
struct WeightName {
  std::string column;
  std::optional<std::string> class_name;
};

std::vector<WeightName> weight_names(const Model& model) {
  const std::vector<std::string> columns = data::encoded_column_names(model.schema);
  const std::vector<std::string> class_names = model.schema.class_names();
  const std::size_t count = outputs(model);
  std::vector<WeightName> names;
  for (std::size_t output = 0; output < count; ++output) {
    for (const std::string& column : columns) {
      WeightName name{.column = column, .class_name = {}};
      if (count > 1) name.class_name = class_names[output];
      names.push_back(std::move(name));
    }
  }
  return names;
}

// Of a network, the numbers alone; it computes with their 32-bit values.
ordered_json weights_to_json(const Model& model) {
  if (!model.network.empty()) return std::vector<float>(model.weights.begin(), model.weights.end());
  const std::vector<WeightName> names = weight_names(model);
  ordered_json list = ordered_json::array();
  for (std::size_t i = 0; i < names.size(); ++i) {
    ordered_json entry;
    if (names[i].class_name) entry["class"] = *names[i].class_name;
    entry["column"] = names[i].column;
    entry["weight"] = model.weights[i];
    list.push_back(std::move(entry));
  }
  return list;
}

// Lists on one line each: places of the columns that have any noise, and a row of the factor per direction.
ordered_json noise_to_json(const Model& model) {
  const WeightNoise& noise = *model.noise;
  const std::size_t columns = noise.factor.size() / noise.directions;
  std::vector<std::size_t> used;
  for (std::size_t j = 0; j < columns; ++j) {
    bool moves = false;
    for (std::size_t d = 0; d < noise.directions; ++d) moves = moves || noise.factor[d * columns + j] != 0;
    if (moves) used.push_back(j);
  }
  ordered_json factor = ordered_json::array();
  for (std::size_t d = 0; d < noise.directions; ++d) {
    ordered_json row = ordered_json::array();
    for (const std::size_t j : used) row.push_back(noise.factor[d * columns + j]);
    factor.push_back(std::move(row));
  }
  return {{"centre", noise.centre},
          {"columns", used},
          {"factor", std::move(factor)},
          {"covariance", noise.covariance}};
}

// Reads the keys of one file.
class Reader {
 public:
  explicit Reader(const std::string& file) : file_(file) {}

  [[noreturn]] void refuse(const std::string& message) const { data::refuse(file_, message); }

  ordered_json parse(std::string_view text) const {
    try {
      return ordered_json::parse(text);
    } catch (const ordered_json::parse_error& error) {
      const std::size_t read = std::min(error.byte, text.size());
      const auto end = text.begin() + static_cast<std::ptrdiff_t>(read);
      data::refuse(file_, static_cast<std::uint64_t>(1 + std::count(text.begin(), end, '\n')),
                   "not valid JSON; is the file whole?");
    } catch (const ordered_json::out_of_range&) {
      refuse("a number is too large for a double");
    }
  }

  const ordered_json& at(const ordered_json& json, const char* key) const {
    if (!json.is_object()) refuse("expected a JSON object");
    const auto found = json.find(key);
    if (found == json.end()) refuse(fmt::format("the key '{}' is missing", key));
    return *found;
  }

  std::string text(const ordered_json& json, const char* key) const {
    const ordered_json& value = at(json, key);
    if (!value.is_string()) refuse(fmt::format("expected a text for '{}', got {}", key, show(value)));
    return value.get<std::string>();
  }

  double number(const ordered_json& json, const char* key) const {
    const ordered_json& value = at(json, key);
    if (!value.is_number())
      refuse(fmt::format("expected a finite number for '{}', got {}", key, show(value)));
    return value.get<double>();
  }

  std::size_t count(const ordered_json& json, const char* key) const {
    const ordered_json& value = at(json, key);
    if (!value.is_number_unsigned())
      refuse(fmt::format("expected a whole number >= 0 for '{}', got {}", key, show(value)));
    return value.get<std::size_t>();
  }

  const ordered_json& list(const ordered_json& json, const char* key) const {
    const ordered_json& value = at(json, key);
    if (!value.is_array()) refuse(fmt::format("expected a list for '{}', got {}", key, show(value)));
    return value;
  }

 private:
  // A short value as it stands, of others the type.
  static std::string show(const ordered_json& value) {
    if (value.is_structured()) return fmt::format("an {}", value.type_name());
    if (value.is_string()) return in_quotes(value.get<std::string>());
    return value.dump();
  }

  const std::string& file_;
};

void require_format(const Reader& reader, const ordered_json& json) {
  const std::string format = reader.text(json, "format");
  if (format != kFormat)
    reader.refuse(fmt::format("expected '{}' for 'format', got {}", kFormat, in_quotes(format)));
  const std::size_t version = reader.count(json, "format_version");
  if (version == kFormatVersion) return;
  reader.refuse(
      fmt::format("it has 'format_version' {}, this program knows version {}", version, kFormatVersion));
}

void require_name(const Reader& reader, const ordered_json& entry, const char* key,
                  const std::string& expected, std::size_t place) {
  const std::string got = reader.text(entry, key);
  if (got == expected) return;
  reader.refuse(fmt::format("'weights', place {}: expected {} for '{}', got {}", place, in_quotes(expected),
                            key, in_quotes(got)));
}

std::vector<double> numbers(const Reader& reader, const ordered_json& json, const char* key) {
  std::vector<double> out;
  for (const ordered_json& value : reader.list(json, key)) {
    if (!value.is_number()) reader.refuse(fmt::format("'{}', place {}: not a number", key, out.size()));
    out.push_back(value.get<double>());
  }
  return out;
}

std::vector<double> read_network_weights(const Reader& reader, const ordered_json& list,
                                         std::size_t expected) {
  if (list.size() != expected) {
    reader.refuse(fmt::format("the network has {} weights, but 'weights' lists {}", expected, list.size()));
  }
  std::vector<double> weights;
  weights.reserve(expected);
  for (const ordered_json& value : list) {
    if (!value.is_number()) reader.refuse(fmt::format("'weights', place {}: not a number", weights.size()));
    weights.push_back(value.get<double>());
  }
  return weights;
}

std::vector<double> read_weights(const Reader& reader, const ordered_json& json, const Model& model) {
  const ordered_json& list = reader.list(json, "weights");
  if (!model.network.empty()) return read_network_weights(reader, list, parameters(model));
  const std::vector<WeightName> names = weight_names(model);
  if (list.size() != names.size()) {
    reader.refuse(
        fmt::format("the schema has {} weights, but 'weights' lists {}", names.size(), list.size()));
  }
  std::vector<double> weights;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i].class_name) require_name(reader, list[i], "class", *names[i].class_name, i);
    require_name(reader, list[i], "column", names[i].column, i);
    weights.push_back(reader.number(list[i], "weight"));
  }
  return weights;
}

WeightNoise read_noise(const Reader& reader, const ordered_json& json, const Model& model) {
  WeightNoise noise{.centre = numbers(reader, json, "centre"), .factor = {}, .covariance = {}};
  const std::vector<double> used = numbers(reader, json, "columns");
  const std::size_t columns = parameters(model) / outputs(model);
  const ordered_json& factor = reader.list(json, "factor");
  noise.directions = factor.size();
  for (const ordered_json& row : factor) {
    std::vector<double> direction(columns);
    if (!row.is_array() || row.size() != used.size())
      reader.refuse(fmt::format("noise: expected {} numbers in each row of 'factor'", used.size()));
    for (std::size_t k = 0; k < used.size(); ++k) {
      const bool is_column = used[k] >= 0 && used[k] < static_cast<double>(columns);
      if (!is_column || !row[k].is_number())
        reader.refuse("noise: 'columns' and 'factor' do not fit together");
      direction[static_cast<std::size_t>(used[k])] = row[k].get<double>();
    }
    noise.factor.insert(noise.factor.end(), direction.begin(), direction.end());
  }
  noise.covariance = numbers(reader, json, "covariance");
  return noise;
}

GlmLoss read_loss(const Reader& reader, const ordered_json& json) {
  try {
    return named<GlmLoss>(reader.text(json, "loss"));
  } catch (const InputError& error) {
    reader.refuse(fmt::format("'loss': {}", error.what()));
  }
}

std::string model_file(const std::string& run_or_file) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  if (!fs::is_directory(run_or_file, ignored)) return run_or_file;
  const fs::path file = fs::path(run_or_file) / kFileName;
  if (!fs::exists(file, ignored))
    data::refuse(run_or_file, fmt::format("no {} in this folder; is it a finished run?", kFileName));
  return file.string();
}

}  // namespace

std::string to_json(const Model& model) {
  require_sound(model);
  ordered_json json{{"format", kFormat}, {"format_version", kFormatVersion}};
  if (!model.network.empty()) json["network"] = model.network;
  json["loss"] = to_string(model.loss);
  json["classes"] = model.classes;
  json["huber_width"] = model.huber_width;
  json["schema"] = data::to_toml(model.schema);
  json["weights"] = weights_to_json(model);
  if (model.noise) json["noise"] = noise_to_json(model);
  try {
    constexpr int kOnOneLine = -1;  // a line for each of a million weights would help nobody
    return json.dump(model.network.empty() ? 2 : kOnOneLine) + "\n";
  } catch (const ordered_json::type_error&) {
    throw InputError("model: the schema holds a text that is not UTF-8");
  }
}

Model model_from_json(std::string_view text, const std::string& file) {
  const Reader reader(file);
  const ordered_json json = reader.parse(text);
  require_format(reader, json);
  Model model;
  model.loss = read_loss(reader, json);
  if (json.contains("network")) model.network = reader.text(json, "network");
  if (!model.network.empty() && !is_network(model.network)) {
    networks();  // says so if there are none at all
    reader.refuse(fmt::format("no network is called {}", in_quotes(model.network)));
  }
  model.classes = reader.count(json, "classes");
  model.huber_width = reader.number(json, "huber_width");
  model.schema = data::parse_schema(reader.text(json, "schema"), file + ": schema");
  if (const auto fault = shape_fault(model)) reader.refuse(*fault);
  model.weights = read_weights(reader, json, model);
  if (json.contains("noise")) {
    model.noise = read_noise(reader, json["noise"], model);
    if (const auto fault = noise_fault(model)) reader.refuse(*fault);
  }
  return model;
}

Model read_model(const std::string& run_or_file) {
  const std::string file = model_file(run_or_file);
  data::ByteSource source(file);
  const std::vector<char> text = data::read_all(source, kMostBytes);
  return model_from_json({text.data(), text.size()}, file);
}

}  // namespace ration
