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
#include "ration/base/error.h"
#include "text/output.h"

namespace ration::cli {
namespace {

enum ExitStatus { kDone = 0, kBadInput = 1, kBudgetRefused = 2, kOurFailure = 3, kInterrupted = 130 };

constexpr const char* kFooter = R"(
Examples:
  ration demo
  ration account --sampling poisson --rate 0.01 --noise 1.0 --steps 1000 --delta 1e-5 --accountant all
  ration calibrate --sampling poisson --rate 0.01 --steps 1000 --epsilon 3 --delta 1e-5
  ration compare --plan experiments/e1.toml --data a9a --methods dpsgd --out cmp
  ration schedule --shape influence --gamma 0.97 --steps 100 --epsilon 4 --delta 1e-8 --plot s.svg
  ration protector train --tasks quadratic --epsilon 0.05 --delta 1e-8 --out quad.protector
  ration ledger init budget.db --data adult.csv --epsilon 2 --delta 1e-6
  ration ledger show budget.db
  ration evaluate run --data test.csv --public
  ration predict run --data new.csv > predictions.csv

Exit status: 0 done, 1 bad input or usage, 2 budget refused, 3 our own failure, 130 stopped and can be
resumed.

Environment: RATION_CPU=portable, avx2 or avx512 uses these vector instructions (default: the best that the
processor has; 'ration --version' names them).
)";

std::string on_one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

int fail(ExitStatus status, const std::string& message) {
  // Not fmt::print, which throws if the disk under stderr is full.
  std::fputs(fmt::format("ration: {}\n", on_one_line(message)).c_str(), stderr);
  return status;
}

// With the instruction set in use, so that a slow machine explains itself.
std::string version_line() {
  return fmt::format("ration {} ({})", version(), to_string(instruction_set()));
}

void add_commands(CLI::App& app) {
  app.name("ration");
  app.footer(kFooter);
  app.set_version_flag("--version", version_line());
  app.require_subcommand(1);
  add_account(app);
  add_calibrate(app);
  add_compare(app);
  add_demo(app);
  add_evaluate(app);
  add_ledger(app);
  add_plan(app);
  add_predict(app);
  add_protector(app);
  add_schedule(app);
  add_schema(app);
  add_train(app);
  add_verify(app);
}

int run(int argc, char** argv) {
  CLI::App app("Private training within a fixed differential-privacy budget.");
  add_commands(app);
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
