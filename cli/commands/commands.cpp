#include "commands/commands.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "flags/explain.h"
#include "program.h"

namespace ration::cli {
namespace {

constexpr const char* kExamples = R"(ration demo
ration account --sampling poisson --rate 0.01 --noise 1.0 --steps 1000 --delta 1e-5 --accountant all
ration calibrate --sampling poisson --rate 0.01 --steps 1000 --epsilon 3 --delta 1e-5
ration train adult.csv --schema adult.toml --rows 32561 --epsilon 1 --delta 1e-6 --out run
ration verify run
ration evaluate run --data test.csv --public
ration predict run --data new.csv > predictions.csv
ration ledger init budget.db --data adult.csv --epsilon 2 --delta 1e-6
)";

std::string exit_statuses() {
  std::string text;
  for (const ExitStatusMeaning& one : kExitStatuses) {
    text += fmt::format("  {:<4} {}\n", static_cast<int>(one.status), one.meaning);
  }
  return text;
}

std::string environment() {
  std::string text;
  for (const EnvironmentVariable& one : kEnvironment)
    text += fmt::format("  {:<12} {}\n", one.name, one.meaning);
  return text;
}

}  // namespace

void add_commands(CLI::App& app) {
  app.name("ration");
  app.description("Train models within a fixed differential-privacy budget");
  explain(app, {.examples = kExamples});
  app.footer(app.get_footer() + "\nExit status:\n" + exit_statuses() + "\nEnvironment:\n" + environment());
  app.require_subcommand(1);
  for (const auto add_command : kCommands) add_command(app);
}

}  // namespace ration::cli
