// What include/ration promises: each header says how stable it is, and none needs what is not installed. That
// each compiles by itself is the target public_headers (tests/CMakeLists.txt).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "support/child_process.h"
#include "support/places.h"

namespace ration::testing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr const char* kStable = "// Stable: changes only with a new major version.";
constexpr const char* kForExtensions = "// For extensions: may change between minor versions.";

// By the name it is included by: "ration/privacy/event.h".
using Headers = std::map<std::string, std::string>;

Headers public_headers() {
  Headers headers;
  const std::filesystem::path root = RATION_SOURCE_DIR "/include";
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
    if (entry.is_regular_file()) {
      headers[std::filesystem::relative(entry.path(), root).string()] =
          read_whole_file(entry.path().string());
    }
  }
  return headers;
}

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

std::vector<std::string> quoted_includes(const std::string& text) {
  static const std::regex include(R"re((?:^|\n)\s*#\s*include\s*"([^"]+)")re");
  std::vector<std::string> names;
  for (std::sregex_iterator match(text.begin(), text.end(), include), end; match != end; ++match) {
    names.push_back((*match)[1]);
  }
  return names;
}

std::vector<std::string> objections(const Headers& headers) {
  std::vector<std::string> found;
  for (const auto& [name, text] : headers) {
    const std::string promise = first_line(text);
    if (promise != kStable && promise != kForExtensions)
      found.push_back(name + ": does not say how stable it is");
    for (const std::string& included : quoted_includes(text)) {
      const auto place = headers.find(included);
      if (place == headers.end()) {
        found.push_back(name + ": includes " + included + ", which is not public");
      } else if (promise == kStable && first_line(place->second) != kStable) {
        found.push_back(name + ": is stable and includes " + included + ", which is not");
      }
    }
  }
  return found;
}

TEST(PublicHeaders, SayHowStableTheyAreAndIncludeNoOthers) {
  const Headers headers = public_headers();
  EXPECT_THAT(headers, Contains(::testing::Key("ration/ration.h")));
  EXPECT_THAT(objections(headers), IsEmpty());
}

TEST(PublicHeaders, TheCheckFindsWhatIsWrong) {
  const std::string stable = std::string(kStable) + "\n#pragma once\n";
  const std::string extension = std::string(kForExtensions) + "\n#pragma once\n";
  EXPECT_THAT(objections({{"ration/a.h", "#pragma once\n"}}),
              ElementsAre("ration/a.h: does not say how stable it is"));
  EXPECT_THAT(objections({{"ration/a.h", stable + "#include \"base/check.h\"\n"}}),
              ElementsAre("ration/a.h: includes base/check.h, which is not public"));
  EXPECT_THAT(objections({{"ration/a.h", stable + "#include \"ration/b.h\"\n"}, {"ration/b.h", extension}}),
              ElementsAre("ration/a.h: is stable and includes ration/b.h, which is not"));
  EXPECT_THAT(objections({{"ration/a.h", extension + "#include \"ration/b.h\"\n"}, {"ration/b.h", stable}}),
              IsEmpty());
}

}  // namespace
}  // namespace ration::testing
