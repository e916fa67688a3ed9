#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "base/atomic_file.h"
#include "commands/commands.h"
#include "flags/common_flags.h"
#include "flags/explain.h"
#include "flags/schedule_flags.h"
#include "ration/base/error.h"
#include "schedules/noise_file.h"
#include "text/output.h"
#include "text/schedule_text.h"

namespace ration::cli {
namespace {

struct OutputFlags {
  std::optional<std::string> plot, out;
  bool json = false;
  bool quiet = false;
};

void write_files(const ScheduleAnswer& answer, const OutputFlags& flags) {
  if (flags.plot) write_file_atomically(*flags.plot, plot_schedule(answer));
  if (flags.out) write_file_atomically(*flags.out, noise_file_text(answer.scaled.noise));
}

void run_schedule(const ScheduleFlags& schedule, const OutputFlags& flags) {
  const ScheduleAnswer answer = schedule.solve();
  write_files(answer, flags);
  if (flags.json) {
    nlohmann::ordered_json json;
    write_to(json, answer);
    if (flags.plot) json["plot"] = *flags.plot;
    if (flags.out) json["out"] = *flags.out;
    return print(json_text(json));
  }
  if (!answer.read_without_privacy.empty()) {
    fmt::print(stderr, "ration: warning: {}\n", warning_of_public_rows(answer));
  }
  if (flags.quiet) return print(only_the_noise(answer));
  print(to_text(answer));
  if (flags.plot) print(fmt::format("\nplot: {}\n", *flags.plot));
  if (flags.out) print(fmt::format("{}schedule: {}\n", flags.plot ? "" : "\n", *flags.out));
}

constexpr const char* kExamples =
    R"(ration schedule --shape influence --gamma 0.97 --steps 100 --epsilon 4 --delta 1e-8 --plot s.svg
ration schedule --shape exponential --schedule-rate 0.005 --steps 500 \
  --sampling poisson --rate 0.05 --epsilon 1 --delta 1e-6
ration schedule --shape influence:estimated --data public.csv --schema schema.toml --rows 30000 \
  --steps 100 --epsilon 1 --delta 1e-6 --out schedule.csv
ration train private.csv --schema schema.toml --rows 30000 \
  --method dpsgd --schedule schedule.csv --epsilon 1 --delta 1e-6 --out run
)";

}  // namespace

void add_schedule(CLI::App& app) {
  auto schedule = std::make_shared<ScheduleFlags>();
  auto flags = std::make_shared<OutputFlags>();
  CLI::App& command = *app.add_subcommand(
      "schedule", "Compute the noise of each step within a budget, and a bound on the final error");
  schedule->add_to(command);
  command.add_option("--plot", flags->plot, "Also plot the noise of each step, as SVG")->type_name("FILE");
  command
      .add_option("--out", flags->out,
                  "Also write the noise of each step as CSV, for 'train --schedule' and 'account --schedule'")
      ->type_name("FILE");
  add_json_flag(command, flags->json);
  command.add_flag("--quiet", flags->quiet, "Print only the noise of each step");
  explain(command, {.examples = kExamples});
  command.callback([schedule, flags] { run_schedule(*schedule, *flags); });
}

}  // namespace ration::cli
