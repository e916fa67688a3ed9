#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <string>

#include "base/instruction_set.h"
#include "base/version.h"
#include "commands/commands.h"
#include "flags/usage.h"
#include "interrupt.h"
#include "networks.h"
#include "program.h"
#include "ration/base/error.h"
#include "ration/data/bad_rows.h"
#include "text/output.h"

namespace ration::cli {
namespace {

std::string on_one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

int fail(ExitStatus status, const std::string& message) {
  // Not fmt::print, which throws if the disk under stderr is full.
  std::fputs(fmt::format("ration: {}\n", on_one_line(message)).c_str(), stderr);
  return status;
}

// One line for each row that is complained of.
int fail_by_line(ExitStatus status, const std::string& message) {
  std::string lines = "ration: ";
  for (const char c : message) lines += c == '\n' ? std::string("\nration: ") : std::string(1, c);
  std::fputs((lines + '\n').c_str(), stderr);
  return status;
}

// With the instruction set in use, so that a slow machine explains itself.
std::string version_line() {
  return fmt::format("ration {} ({})", version(), to_string(instruction_set()));
}

int run(int argc, char** argv) {
  CLI::App app;
  add_commands(app);
  app.set_version_flag("--version", version_line(), "Print the version");
  try {
    check_usage(app, {argv + 1, argv + argc});
    app.parse(argc, argv);
    return kDone;
  } catch (const CLI::CallForHelp&) {
    print(app.help());
  } catch (const CLI::CallForVersion&) {
    print(version_line() + "\n");
  } catch (const CLI::ParseError& error) {
    return fail(kBadInput, fmt::format("{}; see 'ration --help'", error.what()));
  }
  return kDone;
}

}  // namespace
}  // namespace ration::cli

int main(int argc, char** argv) {
  using namespace ration::cli;
  try {
    ration::requested_instruction_set();  // refuses a wrong RATION_CPU before anything computes
    offer_networks();
    return run(argc, argv);
  } catch (const ration::data::BadRows& error) {
    return fail_by_line(kBadInput, error.what());
  } catch (const ration::InputError& error) {
    return fail(kBadInput, error.what());
  } catch (const ration::BudgetRefused& error) {
    return fail(kBudgetRefused, error.what());
  } catch (const Interrupted& error) {
    return fail(kInterrupted, error.what());
  } catch (const std::exception& error) {
    return fail(kOurFailure, error.what());
  }
}
