// What the documents show: their commands run and print what is shown, their links and file names lead
// somewhere.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <regex>
#include <set>
#include <sstream>

#include "support/child_process.h"
#include "support/places.h"
#include "train/method_plan.h"

namespace ration::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

const fs::path kRoot = RATION_SOURCE_DIR;

// --- what a document holds

// A line that begins with "$ ", and the output shown below it.
struct ShownCommand {
  std::string command;  // with its here-document, if it has one
  std::string output;   // empty if none is shown
};

// The commands in fenced blocks that begin with ```sh and whose lines begin with "$ ". A command that ends in
// <<'END' goes on up to the line END.
std::vector<ShownCommand> shown_commands(const std::string& markdown) {
  std::vector<ShownCommand> commands;
  std::istringstream lines(markdown);
  bool in_block = false;
  bool in_command = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("```")) {
      in_block = !in_block && line == "```sh";
      in_command = false;
    } else if (in_block && line.starts_with("$ ")) {
      commands.push_back({line.substr(2), ""});
      in_command = true;
      if (!line.ends_with("<<'END'")) continue;
      while (line != "END" && std::getline(lines, line)) commands.back().command += "\n" + line;
    } else if (in_block && in_command) {
      commands.back().output += line + "\n";
    }
  }
  return commands;
}

// What lies outside of fenced blocks.
std::string prose(const std::string& markdown) {
  std::istringstream lines(markdown);
  std::string text;
  bool in_block = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("```")) in_block = !in_block;
    if (!in_block) text += line + "\n";
  }
  return text;
}

std::set<std::string> all_matches(const std::string& text, const std::regex& pattern) {
  std::set<std::string> found;
  for (std::sregex_iterator at(text.begin(), text.end(), pattern), end; at != end; ++at)
    found.insert((*at)[1].str());
  return found;
}

std::set<std::string> links(const std::string& markdown) {
  static const std::regex link(R"(\]\(([^)\s]+)\))");
  return all_matches(prose(markdown), link);
}

// `src/train/run.cpp`, but not `src/<folder>` and not `docs/*.md`.
std::set<std::string> files_named(const std::string& markdown) {
  static const std::regex name(
      "`((?:src|include|cli|plot|tests|docs|examples|experiments|bench|cmake|protectors)/[A-Za-z0-9_./-]*)`");
  return all_matches(prose(markdown), name);
}

// The names by which GitHub links to headings.
std::set<std::string> anchors(const std::string& markdown) {
  std::set<std::string> names;
  std::istringstream lines(prose(markdown));
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("#")) continue;
    std::string name;
    for (const char c : line.substr(line.find(' ') + 1)) {
      if (c == ' ' || c == '-' || c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0)
        name += c == ' ' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
    names.insert(name);
  }
  return names;
}

TEST(DocumentReader, FindsCommandsWithTheirOutputAndTheirInput) {
  const auto commands = shown_commands(
      "```sh\n$ a b\none\ntwo\n$ c\n```\n```sh\nmake\n```\n```\n$ no\n```\n"
      "```sh\n$ cat > x <<'END'\n$ y\nEND\nout\n```\n");
  ASSERT_EQ(commands.size(), 3u);
  EXPECT_EQ(commands[0].command, "a b");
  EXPECT_EQ(commands[0].output, "one\ntwo\n");
  EXPECT_EQ(commands[1].command, "c");
  EXPECT_EQ(commands[1].output, "");
  EXPECT_EQ(commands[2].command, "cat > x <<'END'\n$ y\nEND");
  EXPECT_EQ(commands[2].output, "out\n");
}

TEST(DocumentReader, FindsLinksFilesAndAnchors) {
  const std::string text =
      "## A `b`: c, d\n[x](y.md#z) ![p](q.svg) `src/a.cpp` `src/<x>.cpp`\n```\n[no](no)\n```\n";
  EXPECT_THAT(links(text), ElementsAre("q.svg", "y.md#z"));
  EXPECT_THAT(files_named(text), ElementsAre("src/a.cpp"));
  EXPECT_THAT(anchors(text), ElementsAre("a-b-c-d"));
}

// --- the documents

// Every Markdown file of the root and below docs, examples and bench.
std::vector<std::string> documents() {
  std::vector<std::string> found;
  const auto add = [&](const fs::path& file) {
    if (file.extension() == ".md") found.push_back(fs::relative(file, kRoot).string());
  };
  for (const auto& entry : fs::directory_iterator(kRoot)) add(entry.path());
  for (const char* folder : {"docs", "examples", "bench", "protectors"}) {
    for (const auto& entry : fs::recursive_directory_iterator(kRoot / folder)) add(entry.path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::string text_of(const std::string& document) {
  return read_whole_file((kRoot / document).string());
}

std::vector<std::string> documents_with_commands() {
  std::vector<std::string> found;
  for (const std::string& document : documents()) {
    if (!shown_commands(text_of(document)).empty()) found.push_back(document);
  }
  return found;
}

std::string test_name(const ::testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

class Document : public ::testing::TestWithParam<std::string> {};
class DocumentWithCommands : public ::testing::TestWithParam<std::string> {};

INSTANTIATE_TEST_SUITE_P(All, Document, ::testing::ValuesIn(documents()), test_name);
INSTANTIATE_TEST_SUITE_P(All, DocumentWithCommands, ::testing::ValuesIn(documents_with_commands()),
                         test_name);

Finished run_in_shell(const std::string& command, const std::string& folder) {
  const std::string path = fs::path(RATION_BINARY).parent_path().string();
  return run_program("/bin/sh", {"-c", "PATH=\"" + path + ":$PATH\"; " + command}, folder);
}

// What is measured on a private model differs from run to run, times do, and made-up data may differ in a
// last digit from machine to machine.
std::string without_noise(const std::string& output) {
  static const std::regex noisy("(accuracy|loss|about|AUC|score) [0-9.]+");
  static const std::regex recall("recall: [^\n]*");
  static const std::regex cell(R"([0-9.]+ \+- [0-9.]+)");
  static const std::regex plots("and [0-9]+ plots");  // as PNG, too, or not
  static const std::regex seconds(R"((#) +[0-9]+\.[0-9]{3}\n)");
  static const std::regex hash("\\b[0-9a-f]{12}([0-9a-f]{52})?\\b");
  static const std::regex time("[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}Z");
  std::string text = std::regex_replace(output, cell, "#");
  text = std::regex_replace(text, noisy, "$1 #");
  text = std::regex_replace(text, recall, "recall: #");
  text = std::regex_replace(text, seconds, "$1\n");
  text = std::regex_replace(text, plots, "and # plots");
  text = std::regex_replace(text, hash, "HASH");
  return std::regex_replace(text, time, "TIME");
}

TEST(WithoutNoise, LeavesWhatIsTheSameInEveryRun) {
  EXPECT_EQ(without_noise("accuracy 0.8440, loss 1 on about 2011 rows\n"),
            "accuracy #, loss # on about # rows\n");
  EXPECT_EQ(without_noise("recall: no 0.9, yes 0.4\nrun"), "recall: #\nrun");
  EXPECT_EQ(without_noise("dpsgd  83.67 +- 0.06  84.67 +- 0.13    0.115\n"), "dpsgd  #  #\n");
  EXPECT_EQ(without_noise("accuracy 0.8 +- 0.01 on, AUC 0.9, Brier score 0.1\n"),
            "accuracy # on, AUC #, Brier score #\n");
  EXPECT_EQ(without_noise("spends epsilon 1 at 2026-01-02T03:04:05Z"), "spends epsilon 1 at TIME");
}

// In order, in one fresh folder, so that a command may use a file that an earlier one made.
TEST_P(DocumentWithCommands, PrintsWhatIsShown) {
  const TemporaryFolder folder;
  for (const ShownCommand& shown : shown_commands(text_of(GetParam()))) {
    const Finished finished = run_in_shell(shown.command, folder.path());
    EXPECT_EQ(finished.exit_code, 0) << shown.command << "\n" << finished.err;
    if (!shown.output.empty()) {
      EXPECT_EQ(without_noise(finished.out), without_noise(shown.output)) << shown.command;
    }
  }
}

TEST(Documents, TheReadmeAndTheTutorialShowCommands) {
  EXPECT_THAT(documents_with_commands(), ::testing::IsSupersetOf({"README.md", "docs/tutorial.md"}));
}

TEST_P(Document, LinksToWhatIsThere) {
  const fs::path folder = (kRoot / GetParam()).parent_path();
  for (const std::string& link : links(text_of(GetParam()))) {
    if (link.starts_with("http")) continue;
    const std::string file = link.substr(0, link.find('#'));
    const fs::path target = file.empty() ? kRoot / GetParam() : folder / file;
    ASSERT_TRUE(fs::exists(target)) << link;
    if (link.find('#') == std::string::npos) continue;
    EXPECT_TRUE(anchors(read_whole_file(target.string())).contains(link.substr(link.find('#') + 1))) << link;
  }
}

TEST_P(Document, NamesFilesThatAreThere) {
  if (GetParam() == "CHANGELOG.md") return;  // it names what was there at the time
  for (const std::string& file : files_named(text_of(GetParam()))) {
    const fs::path beside = (kRoot / GetParam()).parent_path() / file;
    EXPECT_TRUE(fs::exists(kRoot / file) || fs::exists(beside)) << file;
  }
}

// docs/methods has a page for each method, and no other.
TEST(Documents, EveryMethodHasItsPage) {
  std::set<std::string> pages;
  for (const auto& entry : fs::directory_iterator(kRoot / "docs/methods"))
    pages.insert(entry.path().stem().string());
  EXPECT_EQ(pages.erase("README"), 1u);
  const std::set<std::string> listed = links(text_of("docs/methods/README.md"));
  for (const Recipe& recipe : recipes()) {
    const std::string name(to_string(recipe.method));
    ASSERT_EQ(pages.erase(name), 1u) << name;
    EXPECT_TRUE(listed.contains(name + ".md")) << name;
    const std::string page = text_of("docs/methods/" + name + ".md");
    EXPECT_TRUE(page.starts_with("# " + name + ": ")) << name;
    for (const char* part : {"**Guarantee", "ost", "efaults", "## When to use it", "## Files"})
      EXPECT_NE(page.find(part), std::string::npos) << name << ": " << part;
  }
  EXPECT_THAT(pages, IsEmpty());
}

TEST(Documents, TheExampleInCppIsTheOneThatIsBuiltOutsideTheTree) {
  const std::string example = read_whole_file(std::string(RATION_TEST_DIR) + "/install/outside/main.cpp");
  EXPECT_NE(text_of("docs/cpp.md").find("```cpp\n" + example + "```\n"), std::string::npos);
}

}  // namespace
}  // namespace ration::testing
