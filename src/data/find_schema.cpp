#include "data/find_schema.h"

#include <filesystem>

#include "base/shipped.h"
#include "data/named_data.h"
#include "ration/base/error.h"

namespace ration::data {
namespace {

namespace fs = std::filesystem;

// Empty if there is no such file; whoever reads it says so.
fs::path folder_of_rows(const std::string& data) {
  try {
    return fs::absolute(find_data(data)).lexically_normal().parent_path();
  } catch (const InputError&) {
    return {};
  }
}

}  // namespace

std::optional<std::string> find_schema(const std::string& data) {
  if (data.empty() || parse_data_name(data).kind != DataKind::file) return std::nullopt;
  const fs::path folder = folder_of_rows(data);
  if (folder.empty()) return std::nullopt;
  std::error_code ignored;
  for (const fs::path& shipped : shipped_folders("examples")) {
    const fs::path file = shipped / folder.filename() / "schema.toml";
    if (fs::is_regular_file(file, ignored)) return file.string();
  }
  return std::nullopt;
}

}  // namespace ration::data
