#include "support/good_run.h"

#include <algorithm>
#include <map>

#include "base/atomic_file.h"

namespace ration::fuzz {
namespace {

using Files = std::map<std::string, std::string>;

const Files& files() {
  static const Files all = [] {
    Files found;
    for (const auto& entry : std::filesystem::directory_iterator(RATION_GOOD_RUN))
      found[entry.path().filename().string()] = read_file(entry.path().string());
    return found;
  }();
  return all;
}

}  // namespace

const std::vector<std::string>& names_in_good_run() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> sorted;
    for (const auto& [name, bytes] : files()) sorted.push_back(name);
    return sorted;
  }();
  return names;
}

const std::string& read_good_run(const std::string& name) {
  return files().at(name);
}

}  // namespace ration::fuzz
