#include "data/find_file.h"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <vector>

#include "ration/base/error.h"

namespace ration::data {
namespace {

namespace fs = std::filesystem;

// Empty if it is not set.
fs::path data_folder() {
  const char* const folder = std::getenv("RATION_DATA");
  return folder != nullptr ? folder : "";
}

std::vector<fs::path> places(const fs::path& path, const std::string& beside) {
  if (path.is_absolute()) return {path};
  std::vector<fs::path> all;
  if (!beside.empty()) all.push_back((beside / path).lexically_normal());
  all.push_back(path.lexically_normal());
  if (!data_folder().empty()) all.push_back((data_folder() / path).lexically_normal());
  return all;
}

using Test = bool (*)(const fs::path&, std::error_code&);

// What the reader of the message can do; `path` is a data set's if it has a folder in front.
std::string advice(const fs::path& path) {
  if (path.is_absolute() || !path.has_parent_path()) return "";
  if (!data_folder().empty()) return "; the last of these is in the folder RATION_DATA";
  return "; if it is a public data set, download it (examples/README.md) and set RATION_DATA to the folder";
}

// `what` says what is missing if no place passes the test.
std::string find(const std::string& path, const std::string& beside, Test test, const std::string& what) {
  std::string looked;
  for (const fs::path& place : places(path, beside)) {
    std::error_code ignored;
    if (test(place, ignored)) return place.string();
    looked += (looked.empty() ? "" : ", ") + place.string();
  }
  throw InputError(fmt::format("{}: {}; looked for {}{}", path, what, looked, advice(path)));
}

}  // namespace

std::string find_data_file(const std::string& path, const std::string& beside) {
  if (path.empty()) throw InputError("expected the name of a file, got none");
  return find(path, beside, fs::is_regular_file, "no such file");
}

std::string find_data_folder(const std::string& path, const std::string& beside,
                             const std::string& expected) {
  return find(path, beside, fs::is_directory, "no such folder; expected " + expected);
}

}  // namespace ration::data
