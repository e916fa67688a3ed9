#include "ration/data/find_file.h"

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

}  // namespace

std::string find_data_file(const std::string& path, const std::string& beside) {
  if (path.empty()) throw InputError("expected the name of a file, got none");
  std::string looked;
  for (const fs::path& place : places(path, beside)) {
    std::error_code ignored;
    if (fs::is_regular_file(place, ignored)) return place.string();
    looked += (looked.empty() ? "" : ", ") + place.string();
  }
  throw InputError(fmt::format(
      "{}: no such file; looked for {}; RATION_DATA names the folder of the data sets", path, looked));
}

}  // namespace ration::data
