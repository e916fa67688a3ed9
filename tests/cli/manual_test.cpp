#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "base/version.h"
#include "cli/command_tree.h"
#include "cli/refusal.h"
#include "manual/man_page.h"
#include "support/child_process.h"
#include "support/ration_command.h"
#include "text/run_files.h"

namespace ration::testing {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

// What a page says of a name: hyphens are escaped, so that they can be copied into a shell.
std::string in_roff(std::string text) {
  for (std::size_t at = text.find('-'); at != std::string::npos; at = text.find('-', at + 2)) {
    text.insert(at, "\\");
  }
  return text;
}

// The pages as `ration manual` writes them.
class Manual : public ::testing::Test {
 protected:
  void SetUp() override {
    const Finished finished = run_ration("manual --out man", folder_.path());
    ASSERT_EQ(finished.exit_code, 0) << finished.err;
  }

  std::string page(const std::string& name) const { return read_whole_file(path(name)); }
  std::string path(const std::string& name) const { return folder_.path() + "/man/" + name + ".1"; }
  Finished run(const std::string& line) const { return run_program("/bin/sh", {"-c", line}, folder_.path()); }
  bool is_installed(const std::string& program) const { return run("command -v " + program).exit_code == 0; }

 private:
  TemporaryFolder folder_;
};

TEST_F(Manual, HasAPageForEveryCommandWithAllItsFlags) {
  for (const cli::Command& command : command_tree().commands) {
    const std::string text = page("ration-" + command.name());
    cli::for_each_command(command, [&](const cli::Command& below) {
      for (const cli::Argument& flag : below.flags) EXPECT_THAT(text, HasSubstr(in_roff(flag.name)));
      for (const cli::Argument& word : below.words) EXPECT_THAT(text, HasSubstr(".I \"" + word.value + "\""));
    });
    EXPECT_THAT(page("ration"), HasSubstr(in_roff("ration-" + command.name())));
    for (const char* const part : {".SH NAME", ".SH SYNOPSIS", ".SH DESCRIPTION", ".SH \"EXIT STATUS\"",
                                   ".SH EXAMPLES", ".SH \"SEE ALSO\""}) {
      EXPECT_THAT(text, HasSubstr(part)) << command.name();
    }
  }
}

TEST_F(Manual, GroupsFlagsAsTheHelpDoes) {
  const std::string text = page("ration-train");
  EXPECT_LT(text.find(".SS \"Data\""), text.find("\\-\\-schema"));
  EXPECT_LT(text.find("\\-\\-schema"), text.find(".SS \"Model\""));
  EXPECT_LT(text.find(".SS \"Privacy\""), text.find("\\-\\-epsilon "));
}

TEST_F(Manual, NamesTheVersion) {
  EXPECT_THAT(page("ration"), HasSubstr(fmt::format(".TH \"RATION\" 1 \"\" \"ration {}\"", version())));
}

TEST_F(Manual, IsCleanForGroff) {
  if (!is_installed("groff")) GTEST_SKIP() << "groff is not installed; the pages are not checked by it";
  const Finished finished = run("for page in man/*.1; do groff -ww -b -z -man -Tascii \"$page\"; done");
  EXPECT_EQ(finished.exit_code, 0);
  EXPECT_EQ(finished.err, "");
}

TEST_F(Manual, IsCleanForMandoc) {
  if (!is_installed("mandoc")) GTEST_SKIP() << "mandoc is not installed; the pages are not checked by it";
  // A page has no date: the same program always writes the same page.
  const Finished finished = run("mandoc -Tlint -Wwarning man/*.1 | grep -v 'missing date'");
  EXPECT_EQ(finished.out, "");
}

TEST_F(Manual, ReadsAsItWasWritten) {
  if (!is_installed("mandoc")) GTEST_SKIP() << "mandoc is not installed; the pages are not rendered";
  const std::string text = run("mandoc -Tascii man/ration-train.1 | col -b").out;
  EXPECT_THAT(text, HasSubstr("--epsilon EPS"));
  EXPECT_THAT(text, HasSubstr("ration train --resume run"));
  EXPECT_THAT(text, HasSubstr("model.json"));
}

TEST(ManPage, EscapesWhatRoffWouldRead) {
  cli::Command odd{.path = {"ration"},
                   .help = ".TH -- 'x' \\n",
                   .explanation = {},
                   .flags = {},
                   .words = {},
                   .commands = {}};
  odd.explanation.examples = ".so /etc/passwd\necho \\\n'x'\n";
  const std::string text = cli::man_pages(odd, "ration 1.2.3").front().text;
  EXPECT_THAT(text, HasSubstr("\\&.TH \\-\\- \\(aqx\\(aq \\en"));
  EXPECT_THAT(text, HasSubstr("\n\\&.so /etc/passwd\necho \\e\n\\(aqx\\(aq\n"));
}

TEST(RunFiles, AreWhatARunLeaves) {
  const TemporaryFolder folder;
  ASSERT_EQ(run_ration("demo --quiet --out run", folder.path()).exit_code, 0);
  std::vector<std::string> known;
  for (const cli::KnownFile& file : cli::run_files()) known.push_back(file.name);
  for (const auto& entry : std::filesystem::directory_iterator(folder.path() + "/run")) {
    EXPECT_THAT(known, Contains(entry.path().filename().string()));
  }
  for (const char* const name :
       {"model.json", "certificate.json", "certificate.txt", "plan.toml", "progress.csv"}) {
    EXPECT_THAT(known, Contains(name));
    EXPECT_TRUE(std::filesystem::exists(folder.path() + "/run/" + name)) << name;
  }
}

TEST(ManualCommand, RefusesWhatItCannotWrite) {
  expect_refused(run_ration("manual"), "--out is needed");
  const TemporaryFolder folder;
  folder.write("file", "");
  expect_refused(run_ration("manual --out file/man", folder.path()), "file/man: cannot make this folder");
}

}  // namespace
}  // namespace ration::testing
