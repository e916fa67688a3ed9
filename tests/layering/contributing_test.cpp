// CONTRIBUTING says which files an addition touches; the files are there.
#include <gtest/gtest.h>

#include <filesystem>
#include <regex>
#include <sstream>

#include "support/child_process.h"
#include "support/places.h"

namespace ration::testing {
namespace {

struct Addition {
  std::string kind;
  std::vector<std::vector<std::string>> files;  // column by column
};

std::vector<std::string> paths_in(const std::string& cell) {
  static const std::regex path(R"(`([\w/.-]+)`)");
  std::vector<std::string> paths;
  for (std::sregex_iterator found(cell.begin(), cell.end(), path), end; found != end; ++found)
    paths.push_back((*found)[1]);
  return paths;
}

// The rows of the table below "## What an addition touches".
std::vector<Addition> additions() {
  const std::string text = read_whole_file(RATION_SOURCE_DIR "/CONTRIBUTING.md");
  std::istringstream section(text.substr(text.find("## What an addition touches")));
  std::vector<Addition> all;
  for (std::string line; std::getline(section, line);) {
    if (!line.starts_with("| ") || line.starts_with("| addition")) continue;
    std::istringstream cells(line.substr(2));
    Addition addition;
    for (std::string cell; std::getline(cells, cell, '|');) {
      if (addition.kind.empty()) {
        addition.kind = cell;
      } else {
        addition.files.push_back(paths_in(cell));
      }
    }
    all.push_back(addition);
  }
  return all;
}

TEST(Contributing, NamesTheFilesOfTheTenKindsOfAddition) {
  EXPECT_EQ(additions().size(), 10u);
  for (const Addition& addition : additions()) {
    SCOPED_TRACE(addition.kind);
    ASSERT_GE(addition.files.size(), 4u);
    EXPECT_FALSE(addition.files[0].empty()) << "its own file";
    EXPECT_EQ(addition.files[1].size(), 1u) << "its line in the table";
    EXPECT_FALSE(addition.files[3].empty()) << "its test";
  }
}

TEST(Contributing, EveryFileItNamesIsThere) {
  const std::filesystem::path root = RATION_SOURCE_DIR;
  for (const Addition& addition : additions()) {
    for (const auto& column : addition.files) {
      for (const std::string& file : column)
        EXPECT_TRUE(std::filesystem::is_regular_file(root / file)) << addition.kind << ": " << file;
    }
  }
}

}  // namespace
}  // namespace ration::testing
