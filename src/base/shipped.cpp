#include "base/shipped.h"

namespace ration {

namespace fs = std::filesystem;

std::vector<fs::path> shipped_folders(std::string_view name) {
  std::vector<fs::path> all;
  std::error_code ignored;
  const fs::path program = fs::read_symlink("/proc/self/exe", ignored);
  if (!program.empty()) {
    all.push_back((program.parent_path() / ".." / RATION_SHARED_FOLDER / name).lexically_normal());
  }
  all.push_back(fs::path(RATION_SOURCE_FOLDER) / name);
  return all;
}

}  // namespace ration
