#include "data/named_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <utility>

#include "data/complaint.h"
#include "data/find_file.h"

namespace ration::data {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFashionFolder = "/usr/share/datasets/fashion-mnist";
constexpr std::string_view kTest = ":test";

struct Prefix {
  std::string_view text;
  DataKind kind;
};
constexpr Prefix kPrefixes[] = {{"mnist:", DataKind::mnist},
                                {"fashion-mnist:", DataKind::fashion_mnist},
                                {"cifar10:", DataKind::cifar10},
                                {"text:", DataKind::text}};

std::string_view prefix_of(DataKind kind) {
  for (const Prefix& one : kPrefixes) {
    if (one.kind == kind) return one.text;
  }
  return "";
}

bool is_images(DataKind kind) {
  return kind == DataKind::mnist || kind == DataKind::fashion_mnist || kind == DataKind::cifar10;
}

std::string expected_in_folder(const NamedData& data) {
  switch (data.kind) {
    case DataKind::fashion_mnist:
      return "the four IDX files of Fashion-MNIST; install the package dataset-fashion-mnist, or name a "
             "folder by "
             "fashion-mnist:DIR";
    case DataKind::cifar10:
      return data.test ? "test_batch*.bin or test_batch*.bin.gz"
                       : "data_batch_*.bin or data_batch_*.bin.gz, the binary version of CIFAR-10";
    case DataKind::mnist:
    case DataKind::file:
    case DataKind::text:
      break;
  }
  return "the four IDX files of MNIST, such as train-images-idx3-ubyte.gz";
}

// --- where it is

std::string folder_of(const NamedData& data) {
  if (!data.path.empty()) return find_data_folder(data.path, "", expected_in_folder(data));
  if (!fs::is_directory(kFashionFolder)) {
    refuse(kFashionFolder, "no such folder; expected " + expected_in_folder(data));
  }
  return kFashionFolder;
}

std::string idx_file(const NamedData& data, const std::string& folder, const char* content) {
  const fs::path plain = fs::path(folder) / fmt::format("{}-{}", data.test ? "t10k" : "train", content);
  for (const std::string& name : {plain.string(), plain.string() + ".gz"}) {
    if (fs::is_regular_file(name)) return name;
  }
  refuse(plain.string(), fmt::format("no such file, nor with .gz; expected {}", expected_in_folder(data)));
}

bool is_batch(std::string_view name, std::string_view beginning) {
  if (name.ends_with(".gz")) name.remove_suffix(3);
  return name.starts_with(beginning) && name.ends_with(".bin");
}

std::vector<std::string> batches(const NamedData& data, const std::string& folder) {
  std::vector<std::string> files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (is_batch(name, data.test ? "test_batch" : "data_batch_")) files.push_back(entry.path().string());
  }
  if (files.empty()) refuse(folder, "expected " + expected_in_folder(data) + "; none is there");
  std::sort(files.begin(), files.end());
  return files;
}

// --- what is public about it

Schema schema_of(const std::string& file, FileFormat format, std::vector<std::string> classes) {
  Column label;
  label.name = "label";
  label.type = ColumnType::category;
  label.categories = std::move(classes);
  Schema schema;
  schema.file = file;
  schema.format = format;
  schema.label = label.name;
  schema.columns.push_back(std::move(label));
  return schema;
}

Schema image_schema(const std::string& file, const ImageShape& shape, std::vector<std::string> classes) {
  Schema schema = schema_of(file, FileFormat::images, std::move(classes));
  schema.image = shape;
  return schema;
}

Schema text_schema(const std::string& file) {
  Schema schema = schema_of(file, FileFormat::text, {"0", "1"});
  schema.header = false;
  schema.text.emplace();
  return schema;
}

}  // namespace

NamedData parse_data_name(const std::string& name) {
  if (name == "fashion-mnist") return {.kind = DataKind::fashion_mnist};
  if (name == "fashion-mnist:test") return {.kind = DataKind::fashion_mnist, .test = true};
  for (const Prefix& one : kPrefixes) {
    if (!name.starts_with(one.text)) continue;
    NamedData data{.kind = one.kind, .path = name.substr(one.text.size())};
    data.test = is_images(data.kind) && data.path.ends_with(kTest);
    if (data.test) data.path.resize(data.path.size() - kTest.size());
    if (data.path.empty()) refuse(name, fmt::format("expected {}PATH, got no path", one.text));
    return data;
  }
  return {.path = name};
}

std::string to_string(const NamedData& data) {
  std::string name(prefix_of(data.kind));
  if (data.path.empty()) name.pop_back();
  return name + data.path + std::string(data.test ? kTest : "");
}

std::string find_data(const std::string& name, const std::string& beside) {
  NamedData data = parse_data_name(name);
  if (is_images(data.kind)) {
    if (!data.path.empty()) data.path = find_data_folder(data.path, beside, expected_in_folder(data));
    files_of(to_string(data));
  } else {
    data.path = find_data_file(data.path, beside);
  }
  return to_string(data);
}

std::string with_absolute_path(const std::string& name) {
  if (name.empty()) return name;
  NamedData data = parse_data_name(name);
  if (!data.path.empty()) data.path = fs::absolute(data.path).lexically_normal().string();
  return to_string(data);
}

std::string name_without_folder(const std::string& name) {
  if (name.empty()) return name;
  NamedData data = parse_data_name(name);
  const fs::path path = fs::path(data.path).lexically_normal();
  data.path = (path.has_filename() ? path : path.parent_path()).filename().string();
  const std::string shortened = to_string(data);
  // A file that is called like a format.
  return parse_data_name(shortened) == data ? shortened : "./" + shortened;
}

std::vector<std::string> files_of(const std::string& name) {
  const NamedData data = parse_data_name(name);
  if (data.kind == DataKind::file) return {data.path};
  if (data.kind == DataKind::text) return {find_data_file(data.path)};
  const std::string folder = folder_of(data);
  if (data.kind == DataKind::cifar10) return batches(data, folder);
  return {idx_file(data, folder, "images-idx3-ubyte"), idx_file(data, folder, "labels-idx1-ubyte")};
}

std::optional<Schema> schema_of_data(const std::string& name) {
  switch (parse_data_name(name).kind) {
    case DataKind::mnist:
      return image_schema(name, {.channels = 1, .height = 28, .width = 28},
                          {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"});
    case DataKind::fashion_mnist:
      return image_schema(name, {.channels = 1, .height = 28, .width = 28},
                          {"T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt",
                           "Sneaker", "Bag", "Ankle boot"});
    case DataKind::cifar10:
      return image_schema(
          name, {.channels = 3, .height = 32, .width = 32},
          {"airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"});
    case DataKind::text:
      return text_schema(name);
    case DataKind::file:
      break;
  }
  return std::nullopt;
}

std::optional<double> public_rows(const std::string& name) {
  constexpr double kBatch = 10'000;
  const NamedData data = parse_data_name(name);
  if (data.kind == DataKind::mnist || data.kind == DataKind::fashion_mnist)
    return data.test ? 10'000 : 60'000;
  if (data.kind == DataKind::cifar10 && !data.test)
    return kBatch * static_cast<double>(files_of(name).size());
  return std::nullopt;
}

}  // namespace ration::data
