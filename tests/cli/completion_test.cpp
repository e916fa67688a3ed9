#include "manual/completion.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "cli/command_tree.h"
#include "cli/refusal.h"
#include "support/child_process.h"
#include "support/ration_command.h"

namespace ration::testing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Not;

std::string script_of(const std::string& shell) {
  const Finished finished = run_ration("completion " + shell);
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_EQ(finished.err, "");
  return finished.out;
}

// What <TAB> offers after this line, by a real bash; ":file" or ":folder" where it completes names of these.
std::vector<std::string> completed_by_bash(const std::string& line) {
  static const std::string script = script_of("bash");
  const TemporaryFolder folder;
  folder.write("completion", script);
  // Words as bash cuts them: at blanks, and around ':' and '='.
  folder.write("try", R"(source ./completion
compopt() { case $2 in default) COMPREPLY+=(:file) ;; dirnames) COMPREPLY+=(:folder) ;; esac; }
COMP_LINE=$1 COMP_POINT=${#1} COMP_WORDBREAKS=$' \t\n"\'><=;|&(:'
read -ra COMP_WORDS <<< "${1//[:=]/ & }"
[[ $1 == *' ' ]] && COMP_WORDS+=('')
COMP_CWORD=$(( ${#COMP_WORDS[@]} - 1 ))
_ration
for one in "${COMPREPLY[@]}"; do printf '%s\n' "$one"; done
)");
  const Finished finished = run_program("/bin/bash", {"--norc", "try", line}, folder.path());
  EXPECT_EQ(finished.exit_code, 0) << line;
  EXPECT_EQ(finished.err, "") << line;
  std::vector<std::string> offers;
  std::istringstream lines(finished.out);
  for (std::string one; std::getline(lines, one);) offers.push_back(one);
  return offers;
}

bool is_installed(const std::string& program) {
  return run_program("/bin/sh", {"-c", "command -v " + program}).exit_code == 0;
}

void expect_that_shell_reads(const std::string& shell) {
  const TemporaryFolder folder;
  folder.write("script", script_of(shell));
  const Finished finished = run_program("/bin/sh", {"-c", shell + " -n script"}, folder.path());
  EXPECT_EQ(finished.exit_code, 0);
  EXPECT_EQ(finished.err, "");
}

TEST(Completion, HasEveryCommandFlagAndValueInEachScript) {
  int flags = 0;
  for (const char* const shell : {"bash", "zsh", "fish"}) {
    const std::string script = script_of(shell);
    cli::for_each_command(command_tree(), [&](const cli::Command& command) {
      EXPECT_THAT(script, HasSubstr(command.name())) << shell;
      for (const cli::Argument& flag : command.flags) {
        ++flags;
        const std::string name = shell == std::string("fish") ? "-l " + flag.name.substr(2) : flag.name;
        EXPECT_THAT(script, HasSubstr(name)) << shell;
        for (const cli::Choice& choice : flag.choices) {
          const std::string tail = choice.name.substr(choice.name.rfind(':') + 1);  // zsh writes '\:'
          EXPECT_THAT(script, HasSubstr(tail)) << shell;
        }
      }
    });
  }
  EXPECT_GT(flags, 3 * 150);
}

TEST(Completion, OffersCommandsInBash) {
  EXPECT_THAT(completed_by_bash("ration tra"), ElementsAre("train"));
  EXPECT_THAT(completed_by_bash("ration "), IsSupersetOf({"account", "ledger", "train", "completion"}));
  EXPECT_THAT(completed_by_bash("ration --ver"), ElementsAre("--version"));
  EXPECT_THAT(completed_by_bash("ration ledger "), ElementsAre("init", "show", "runs"));
  EXPECT_THAT(completed_by_bash("ration protector s"), ElementsAre("show"));
  EXPECT_THAT(completed_by_bash("ration nonsense --"), IsEmpty());
}

TEST(Completion, OffersEveryFlagOfEveryCommandInBash) {
  cli::for_each_command(command_tree(), [&](const cli::Command& command) {
    if (!command.commands.empty()) return;
    const auto offers = completed_by_bash(fmt::format("{} --", fmt::join(command.path, " ")));
    EXPECT_EQ(offers.size(), command.flags.size()) << command.name();
    for (const cli::Argument& flag : command.flags) EXPECT_THAT(offers, Contains(flag.name));
  });
}

TEST(Completion, OffersFlagsInBash) {
  EXPECT_THAT(completed_by_bash("ration train --meth"), ElementsAre("--method"));
  EXPECT_THAT(completed_by_bash("ration train adult.csv --epo"), ElementsAre("--epochs"));
  EXPECT_THAT(completed_by_bash("ration train --method dpsgd --meth"), IsEmpty());  // a flag is given once
  EXPECT_THAT(completed_by_bash("ration train --clip-bound 1 --clip"), Contains("--clip"));
  EXPECT_THAT(completed_by_bash("ration ledger init --data-h"), ElementsAre("--data-hash"));
  EXPECT_THAT(completed_by_bash("ration protector train --"), Not(Contains("--method")));
}

TEST(Completion, OffersValuesInBash) {
  EXPECT_THAT(completed_by_bash("ration account --sampling "),
              ElementsAre("auto", "full", "poisson", "fixed"));
  EXPECT_THAT(completed_by_bash("ration account --sampling=po"), ElementsAre("poisson"));
  EXPECT_THAT(completed_by_bash("ration account --accountant a"), ElementsAre("auto", "all", "advanced"));
  EXPECT_THAT(completed_by_bash("ration train --method bl"), ElementsAre("blsgd", "blsgd-ac", "blgd"));
  EXPECT_THAT(completed_by_bash("ration train --clip auto-"), ElementsAre("auto-v", "auto-s"));
  EXPECT_THAT(completed_by_bash("ration completion "), ElementsAre("bash", "zsh", "fish"));
  EXPECT_THAT(completed_by_bash("ration schedule --shape influence:e"), ElementsAre("estimated"));
  EXPECT_THAT(completed_by_bash("ration train --rows "), IsEmpty());  // a number
  EXPECT_THAT(completed_by_bash("ration train --rows -"), IsEmpty());
}

TEST(Completion, OffersFilesAndFoldersInBash) {
  EXPECT_THAT(completed_by_bash("ration train "), ElementsAre(":file"));
  EXPECT_THAT(completed_by_bash("ration train --data x"), ElementsAre(":file"));
  EXPECT_THAT(completed_by_bash("ration train --data=x"), ElementsAre(":file"));
  EXPECT_THAT(completed_by_bash("ration train --out "), ElementsAre(":folder"));
  EXPECT_THAT(completed_by_bash("ration evaluate r"), ElementsAre(":file"));
  EXPECT_THAT(completed_by_bash("ration demo "), IsEmpty());
}

TEST(Completion, IsReadByZsh) {
  if (!is_installed("zsh")) GTEST_SKIP() << "zsh is not installed; its script is not checked";
  expect_that_shell_reads("zsh");
}

TEST(Completion, IsReadByFish) {
  if (!is_installed("fish")) GTEST_SKIP() << "fish is not installed; its script is not checked";
  expect_that_shell_reads("fish");
}

std::vector<std::string> completed_by_fish(const std::string& line) {
  const TemporaryFolder folder;
  folder.write("script", script_of("fish"));
  const Finished finished =
      run_program("/usr/bin/env",
                  {"HOME=" + folder.path(), "fish", "--no-config", "-c",
                   fmt::format("set -g fish_complete_path; source script; complete -C '{}'", line)},
                  folder.path());
  std::vector<std::string> offers;
  std::istringstream lines(finished.out);
  for (std::string one; std::getline(lines, one);) offers.push_back(one.substr(0, one.find('\t')));
  return offers;
}

TEST(Completion, OffersTheSameInFish) {
  if (!is_installed("fish")) GTEST_SKIP() << "fish is not installed; its answers are not checked";
  EXPECT_THAT(completed_by_fish("ration tra"), ElementsAre("train"));
  EXPECT_THAT(completed_by_fish("ration ledger "), IsSupersetOf({"init", "show", "runs"}));
  EXPECT_THAT(completed_by_fish("ration ledger "), Not(Contains("train")));
  EXPECT_THAT(completed_by_fish("ration train --meth"), ElementsAre("--method"));
  EXPECT_THAT(completed_by_fish("ration protector train --"), Contains("--tasks"));
  EXPECT_THAT(completed_by_fish("ration protector train --"), Not(Contains("--method")));
  EXPECT_THAT(completed_by_fish("ration account --sampling po"), ElementsAre("poisson"));
  EXPECT_THAT(completed_by_fish("ration completion "), IsSupersetOf({"bash", "zsh", "fish"}));
  EXPECT_THAT(completed_by_fish("ration verify scr"), ElementsAre("script"));
}

TEST(Completion, QuotesWhatShellsWouldRead) {
  cli::Command odd{
      .path = {"ration"}, .help = "", .explanation = {}, .flags = {}, .words = {}, .commands = {}};
  cli::Argument flag;
  flag.name = "--odd";
  flag.help = "it's [a] \\ $(touch made): `touch made`";
  flag.value = "A:B";
  flag.takes = cli::Takes::text;
  flag.choices = {{"x:y", "it's (one) \"$HOME\""}};
  odd.flags = {flag};
  const TemporaryFolder folder;
  folder.write("bash.sh", cli::bash_completion(odd));
  folder.write("zsh.sh", "compdef() { :; }\n" + cli::zsh_completion(odd));
  folder.write("fish.sh", cli::fish_completion(odd) + "complete -C 'ration --odd '\n");
  for (const char* const shell : {"bash", "zsh", "fish"}) {
    if (!is_installed(shell)) continue;
    const Finished finished = run_program("/bin/sh", {"-c", fmt::format("{0} {0}.sh", shell)}, folder.path());
    EXPECT_EQ(finished.exit_code, 0) << shell << ": " << finished.err;
    EXPECT_EQ(finished.err, "") << shell;
  }
  EXPECT_EQ(run_program("/bin/sh", {"-c", "test -e made"}, folder.path()).exit_code, 1);
}

TEST(Completion, RefusesAnUnknownShell) {
  expect_refused(run_ration("completion"), "which shell? ration completion bash, zsh or fish");
  expect_refused(run_ration("completion csh"), "completion: expected one of bash, zsh, fish, got 'csh'");
}

}  // namespace
}  // namespace ration::testing
