#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <regex>
#include <sstream>

#include "support/child_process.h"
#include "support/places.h"

namespace ration::testing {
namespace {

// A line that begins with "$ ", and the output shown below it.
struct ShownCommand {
  std::string command;
  std::string output;  // empty if the README shows none
};

// The commands in fenced blocks that begin with ```sh and whose lines begin with "$ ".
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
    } else if (in_block && in_command) {
      commands.back().output += line + "\n";
    }
  }
  return commands;
}

Finished run_in_shell(const std::string& command, const std::string& folder) {
  const std::string path = std::filesystem::path(RATION_BINARY).parent_path().string();
  return run_program("/bin/sh", {"-c", "PATH=\"" + path + ":$PATH\"; " + command}, folder);
}

// What a private model gets right differs from run to run.
std::string without_noise(const std::string& output) {
  static const std::regex noisy("(accuracy|loss) [0-9.]+");
  return std::regex_replace(output, noisy, "$1 #");
}

std::string readme() {
  return read_whole_file(std::string(RATION_SOURCE_DIR) + "/README.md");
}

TEST(Readme, TheReaderOfItsBlocksWorks) {
  const auto commands =
      shown_commands("```sh\n$ a b\none\ntwo\n$ c\n```\n```sh\nmake\n```\n```\n$ no\n```\n");
  ASSERT_EQ(commands.size(), 2u);
  EXPECT_EQ(commands[0].command, "a b");
  EXPECT_EQ(commands[0].output, "one\ntwo\n");
  EXPECT_EQ(commands[1].command, "c");
  EXPECT_EQ(commands[1].output, "");
}

// In order, in one fresh folder, so that a command may use a file that an earlier one made.
TEST(Readme, EveryCommandPrintsWhatIsShown) {
  const TemporaryFolder folder;
  const std::vector<ShownCommand> commands = shown_commands(readme());
  EXPECT_GE(commands.size(), 3u);
  for (const ShownCommand& shown : commands) {
    const Finished finished = run_in_shell(shown.command, folder.path());
    EXPECT_EQ(finished.exit_code, 0) << shown.command << "\n" << finished.err;
    if (!shown.output.empty()) {
      EXPECT_EQ(without_noise(finished.out), without_noise(shown.output)) << shown.command;
    }
  }
}

TEST(Readme, ItsExampleInCppIsTheOneThatIsBuiltOutsideTheTree) {
  const std::string example = read_whole_file(std::string(RATION_TEST_DIR) + "/install/outside/main.cpp");
  EXPECT_NE(readme().find("```cpp\n" + example + "```\n"), std::string::npos);
}

TEST(Readme, EveryFileItLinksToIsThere) {
  const std::string text = readme();
  for (std::size_t at = text.find("]("); at != std::string::npos; at = text.find("](", at + 1)) {
    const std::string target = text.substr(at + 2, text.find_first_of(")#", at) - at - 2);
    if (target.starts_with("http") || target.empty()) continue;
    EXPECT_TRUE(std::filesystem::exists(std::string(RATION_SOURCE_DIR) + "/" + target)) << target;
  }
}

}  // namespace
}  // namespace ration::testing
