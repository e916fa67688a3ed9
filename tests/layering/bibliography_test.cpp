#include <gtest/gtest.h>

#include <filesystem>
#include <regex>
#include <set>

#include "support/child_process.h"
#include "support/places.h"

namespace ration::testing {
namespace {

// Keys as in "[Mironov19, Thm 4]" or "[Rogers16, Feldman21]": a capitalised name and two digits, or one of
// two names.
std::set<std::string> cited_keys(const std::string& text) {
  static const std::regex citation(R"(\[((?:[A-Z][A-Za-z]+[0-9]{2}|L2P|GoogleDP)[^\]\n]*))");
  static const std::regex key(R"(\b(?:[A-Z][A-Za-z]+[0-9]{2}[a-z]?|L2P|GoogleDP)\b)");
  std::set<std::string> keys;
  for (std::sregex_iterator found(text.begin(), text.end(), citation), end; found != end; ++found) {
    const std::string inside = (*found)[1];
    for (std::sregex_iterator one(inside.begin(), inside.end(), key); one != end; ++one)
      keys.insert(one->str());
  }
  return keys;
}

TEST(Bibliography, FindsKeysInText) {
  EXPECT_EQ(cited_keys("x[i] [Wang19, Thm 27] and [Rogers16, Balle18b] but [see 19] not; [L2P,\nThm 1]"),
            (std::set<std::string>{"Wang19", "Rogers16", "Balle18b", "L2P"}));
}

TEST(Bibliography, ListsEveryKeyThatIsCited) {
  const std::filesystem::path root = RATION_SOURCE_DIR;
  const std::string bibliography = read_whole_file(root / "docs/bibliography.md");
  for (const char* folder : {"include", "src", "cli", "docs"}) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root / folder)) {
      const std::string ending = entry.path().extension().string();
      if (ending != ".h" && ending != ".cpp" && ending != ".md") continue;
      for (const std::string& key : cited_keys(read_whole_file(entry.path()))) {
        EXPECT_NE(bibliography.find("**[" + key + "]**"), std::string::npos)
            << entry.path() << " cites [" << key << "], which docs/bibliography.md does not list";
      }
    }
  }
}

}  // namespace
}  // namespace ration::testing
