// The list of mutants fits the sources it changes, the tests it names and the table of docs/trust.md. That
// each is found is what `make mutants` shows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>

#include "support/child_process.h"
#include "support/places.h"

namespace ration::testing {
namespace {

using ::testing::ContainerEq;
using ::testing::Contains;

struct Mutant {
  std::string name, file, find, replace, why, target, test;
};

std::vector<Mutant> mutants() {
  std::vector<Mutant> all;
  for (const auto& one :
       nlohmann::json::parse(read_whole_file(RATION_SOURCE_DIR "/tests/mutants/mutants.json"))) {
    all.push_back({one.at("name"), one.at("file"), one.at("find"), one.at("replace"), one.at("why"),
                   one.at("target"), one.at("test")});
  }
  return all;
}

std::size_t occurrences(const std::string& text, const std::string& wanted) {
  std::size_t count = 0;
  for (std::size_t at = text.find(wanted); at != std::string::npos; at = text.find(wanted, at + 1)) ++count;
  return count;
}

// src/privacy/rdp.cpp and include/ration/privacy/event.h are both of privacy, src/objectives/glm/glm.cpp of
// objectives/glm.
std::string folder_of(const std::string& file) {
  static const std::regex path(R"((?:src|include/ration)/([\w/]+)/\w+\.\w+)");
  std::smatch match;
  return std::regex_match(file, match, path) ? match[1].str() : "";
}

// test_objectives_neural_fast is made of tests/objectives/neural/*_test.cpp.
std::string sources_of_target(const std::string& target) {
  static const std::regex form("test_(.+)_(fast|statistical|data|slow)");
  std::smatch match;
  if (!std::regex_match(target, match, form)) return "";
  const std::string label = match[2];
  const std::string ending = "_" + (label == "fast" ? "test" : label) + ".cpp";
  const std::string root = RATION_SOURCE_DIR "/tests/";
  std::string folder = match[1];
  while (!std::filesystem::is_directory(root + folder) && folder.find('_') != std::string::npos)
    folder[folder.find('_')] = '/';
  if (!std::filesystem::is_directory(root + folder)) return "";
  std::string text;
  for (const auto& entry : std::filesystem::directory_iterator(root + folder)) {
    if (entry.path().string().ends_with(ending)) text += read_whole_file(entry.path().string());
  }
  return text;
}

// The suite and the name of each test of a filter, without the parts that gtest adds for parameters.
std::vector<std::pair<std::string, std::string>> named_tests(const std::string& filter) {
  std::vector<std::pair<std::string, std::string>> tests;
  std::istringstream parts(filter);
  for (std::string part; std::getline(parts, part, ':');) {
    static const std::regex form(R"((?:[\w*]+/)?\*?(\w+)(?:/[\w*]+)?\.([\w*]+)(?:/[\w*]+)?)");
    std::smatch match;
    if (std::regex_match(part, match, form)) tests.emplace_back(match[1], match[2]);
  }
  return tests;
}

TEST(Mutants, AreManyAndHaveNamesOfTheirOwn) {
  std::set<std::string> names;
  static const std::regex form("[a-z0-9-]+");
  for (const Mutant& one : mutants()) {
    EXPECT_TRUE(names.insert(one.name).second) << one.name << " is there twice";
    EXPECT_TRUE(std::regex_match(one.name, form)) << one.name;
    EXPECT_TRUE(one.why.ends_with(".") && one.why.find('|') == std::string::npos) << one.name;
  }
  EXPECT_GE(names.size(), 40u);
}

TEST(Mutants, ChangeOnePlaceOfTheirFile) {
  for (const Mutant& one : mutants()) {
    const std::string text = read_whole_file(RATION_SOURCE_DIR "/" + one.file);
    EXPECT_EQ(occurrences(text, one.find), 1u) << one.name << " in " << one.file;
    EXPECT_NE(one.find, one.replace) << one.name;
  }
}

TEST(Mutants, NameATestThatIsThere) {
  for (const Mutant& one : mutants()) {
    const std::string text = sources_of_target(one.target);
    EXPECT_FALSE(text.empty()) << one.name << ": no sources of " << one.target;
    const auto tests = named_tests(one.test);
    EXPECT_FALSE(tests.empty()) << one.name << ": " << one.test;
    for (const auto& [suite, test] : tests) {
      const bool all_of_suite = test.find('*') != std::string::npos;
      const std::regex place(R"(\(\s*)" + suite + R"(,\s*)" + (all_of_suite ? "" : test + R"(\b)"));
      EXPECT_TRUE(std::regex_search(text, place)) << one.name << ": no " << suite << "." << test;
    }
  }
}

// The folders of src/ on which a guarantee rests: all but those that see noisy answers only (schedules),
// public tasks (meta) or public rows (compare).
TEST(Mutants, AreInEveryFolderThatAGuaranteeRestsOn) {
  std::set<std::string> folders;
  for (const Mutant& one : mutants()) folders.insert(folder_of(one.file));
  for (const char* folder :
       {"base", "privacy", "data", "sampling", "clipping", "objectives/glm", "objectives/neural",
        "mechanisms", "oracle", "methods", "baselines", "train", "audit"}) {
    EXPECT_THAT(folders, Contains(folder));
  }
}

TEST(Mutants, AreThoseOfTheTable) {
  const std::string text = read_whole_file(RATION_SOURCE_DIR "/docs/trust.md");
  const std::size_t begin = text.find("<!-- mutants:");
  const std::size_t end = text.find("<!-- end of mutants -->");
  ASSERT_TRUE(begin != std::string::npos && end != std::string::npos && begin < end);
  std::istringstream table(text.substr(begin, end - begin));
  std::vector<std::string> lines, expected;
  for (std::string line; std::getline(table, line);) {
    if (line.starts_with("| `")) lines.push_back(line);
  }
  for (const Mutant& one : mutants())
    expected.push_back("| `" + one.name + "` | " + one.why + " | `" + one.test + "` |");
  EXPECT_THAT(lines, ContainerEq(expected)) << "tests/mutants/run --table writes it";
}

}  // namespace
}  // namespace ration::testing
