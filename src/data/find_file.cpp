#include "data/find_file.h"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <vector>

#include "ration/base/error.h"

namespace ration::data {
namespace {

namespace fs = std::filesystem;

fs::path data_folder() {
  const char* const folder = std::getenv("RATION_DATA");
  return folder != nullptr && *folder != '\0' ? folder : "../shared/data";
}

std::vector<fs::path> places(const fs::path& path, const std::string& beside) {
  if (path.is_absolute()) return {path};
  std::vector<fs::path> all;
  if (!beside.empty()) all.push_back((beside / path).lexically_normal());
  all.push_back(path.lexically_normal());
  all.push_back((data_folder() / path).lexically_normal());
  return all;
}

using Test = bool (*)(const fs::path&, std::error_code&);

// `what` says what is missing if no place passes the test.
std::string find(const std::string& path, const std::string& beside, Test test, const std::string& what) {
  std::string looked;
  for (const fs::path& place : places(path, beside)) {
    std::error_code ignored;
    if (test(place, ignored)) return place.string();
    looked += (looked.empty() ? "" : ", ") + place.string();
  }
  throw InputError(fmt::format("{}: {}; looked for {}; RATION_DATA names the folder of the data sets", path,
                               what, looked));
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
