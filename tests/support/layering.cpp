#include "support/layering.h"

#include <fmt/format.h>

#include <map>
#include <optional>
#include <regex>
#include <sstream>

namespace ration::testing {
namespace {

constexpr int kBase = 0;
constexpr int kPrivacy = 1;

// Where each folder stands; a folder may include those with a smaller number. Equal numbers do not see each
// other.
const std::map<std::string, int> kPlaces = {
    {"base", kBase},     {"privacy", kPrivacy}, {"metrics", 2},    {"data", 2},       {"sampling", 3},
    {"clipping", 4},     {"objectives", 5},     {"mechanisms", 6}, {"oracle", 7},     {"schedules", 8},
    {"steps", 8},        {"methods", 9},        {"meta", 10},      {"baselines", 10}, {"train", 11},
    {"distributed", 12}, {"compare", 13},       {"audit", 13}};

// The path from the include root: "ration/privacy/event.h" and "privacy/event.h" are the same; "event.h" has
// no folder.
std::optional<std::string> included_path(const std::string& line) {
  static const std::regex quoted(R"re(^\s*#\s*include\s*"([^"]+)")re");
  static const std::regex angled(R"re(^\s*#\s*include\s*<(ration/[^>]+)>)re");
  std::smatch match;
  if (!std::regex_search(line, match, quoted) && !std::regex_search(line, match, angled)) return std::nullopt;
  const std::string path = match[1];
  return path.starts_with("ration/") ? path.substr(7) : path;
}

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.find('/');
  return slash == std::string::npos ? "" : path.substr(0, slash);
}

bool mechanisms_may_see(const std::string& header) {
  return header == "privacy/event.h" || header == "privacy/relation.h";
}

// Why `from` may not include `header`; empty if it may.
std::string objection(const std::string& from, const std::string& header) {
  if (header.find("..") != std::string::npos) return "name a header from the include root, without '..'";
  const std::string to = folder_of(header);
  if (to.empty() || to == from) return "";
  if (!kPlaces.contains(to))
    return fmt::format("folder '{}' is unknown; give it a place in tests/support/layering.cpp", to);
  if (kPlaces.at(to) >= kPlaces.at(from)) return fmt::format("folder '{}' may not include '{}'", from, to);
  if (from == "mechanisms" && to == "privacy" && !mechanisms_may_see(header)) {
    return "mechanisms may include only privacy/event.h and privacy/relation.h";
  }
  return "";
}

void check_file(const SourceFile& file, std::vector<std::string>& violations) {
  const std::string from = folder_of(file.path);
  if (from.empty()) return;  // an umbrella header at the root may include everything
  if (!kPlaces.contains(from)) {
    violations.push_back(fmt::format(
        "{}: folder '{}' is unknown; give it a place in tests/support/layering.cpp", file.path, from));
    return;
  }
  std::istringstream lines(file.text);
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    const std::optional<std::string> header = included_path(line);
    const std::string why = header ? objection(from, *header) : "";
    if (!why.empty()) violations.push_back(fmt::format("{}:{}: {} ({})", file.path, number, why, *header));
  }
}

}  // namespace

std::vector<std::string> layering_violations(const std::vector<SourceFile>& files) {
  std::vector<std::string> violations;
  for (const SourceFile& file : files) check_file(file, violations);
  return violations;
}

}  // namespace ration::testing
