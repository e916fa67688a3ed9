#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string_view>

#include "base/read_number.h"
#include "commands/commands.h"
#include "flags/common_flags.h"
#include "flags/explain.h"
#include "flags/plan_flags.h"
#include "interrupt.h"
#include "manual/quote.h"
#include "ration/base/error.h"
#include "ration/train/run.h"
#include "text/answer.h"
#include "text/output.h"
#include "text/plan_text.h"
#include "text/progress_bar.h"
#include "text/run_files.h"

namespace ration::cli {
namespace {

using nlohmann::ordered_json;

struct Flags {
  PlanFlags plan;
  std::optional<std::string> out, resume, threads, device, sign;
  bool json = false;
  bool quiet = false;
};

std::string folder_of(const Flags& flags) {
  if (flags.resume) {
    const std::string given = flags.plan.first_given();
    if (!given.empty()) {
      throw InputError(fmt::format("--resume continues a run with its own plan; leave {} out", given));
    }
    if (flags.out) throw InputError("--resume names the folder; leave --out out");
    return *flags.resume;
  }
  return flags.out.value_or("run");
}

// Steps that a crash destroyed are paid for and not repeated.
std::string lost_steps(const RunOutcome& outcome) {
  const std::int64_t lost = outcome.plan.steps() - outcome.steps;
  return lost <= 0 ? ""
                   : fmt::format("{} of the {} paid steps were lost when the run was cut off\n", lost,
                                 outcome.plan.steps());
}

std::string steps_taken(const RunOutcome& outcome) {
  if (outcome.plan.fixed() != nullptr || !outcome.plan.is_private()) return "";
  return fmt::format("{:<12}{} steps before the budget was used up\n", "took", outcome.steps);
}

std::string promise(const Certificate& certificate) {
  if (!certificate.not_private.empty()) return "NOT PRIVATE: " + certificate.not_private;
  const std::string unit =
      certificate.unit.empty() ? "" : ", for " + unit_in_words(certificate.unit, certificate.rows_per_unit);
  return fmt::format("certified: epsilon {} at delta {} ({}){}", show_rounded_up(certificate.epsilon),
                     show(certificate.delta), to_string(certificate.relation), unit);
}

// Those that the plan could not know: it had not counted the rows.
std::string new_cautions(const RunOutcome& outcome) {
  const std::vector<std::string> known = cautions(outcome.plan);
  std::string text;
  for (const std::string& one : outcome.certificate.cautions) {
    if (std::find(known.begin(), known.end(), one) == known.end()) text += fmt::format("caution: {}\n", one);
  }
  return text;
}

// All that the run wrote there, in the order in which --help explains it.
std::vector<std::string> files_in(const std::string& folder) {
  std::vector<std::string> files;
  for (const KnownFile& one : run_files()) {
    if (std::filesystem::is_regular_file(std::filesystem::path(folder) / one.name)) files.push_back(one.name);
  }
  return files;
}

void print_summary(const RunOutcome& outcome, const std::string& folder) {
  print(fmt::format("{}{}{}\n{}: {}\n{}\n{}", to_text(outcome.plan), steps_taken(outcome),
                    lost_steps(outcome), folder, fmt::join(files_in(folder), ", "),
                    promise(outcome.certificate), new_cautions(outcome)));
}

void print_json(const RunOutcome& outcome, const std::string& folder, double seconds) {
  ordered_json json{{"finished", outcome.finished}};
  write_to(json, outcome.plan);
  if (outcome.finished && outcome.plan.is_private()) json["epsilon"] = outcome.certificate.epsilon;
  json["steps"] = outcome.steps;
  json["run"] = folder;
  if (outcome.finished) json["cautions"] = outcome.certificate.cautions;
  if (outcome.certificate.ledger) json["ledger_run"] = outcome.certificate.ledger->run;
  json["seconds"] = seconds;
  print(json_text(json));
}

// As a shell reads it.
std::string in_shell(const std::string& word) {
  const bool plain = std::all_of(word.begin(), word.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 ||
           std::string_view("/._-+,:@%=").find(static_cast<char>(c)) != std::string_view::npos;
  });
  if (plain && !word.empty()) return word;
  return in_quotes(word);
}

void run_train(const Flags& flags) {
  const double start = now_in_seconds();
  const std::string folder = folder_of(flags);
  const Interrupt interrupt;
  RunOptions options{.out = folder, .stop = &interrupt.flag()};
  if (flags.threads)
    options.threads = static_cast<std::size_t>(read_count("--threads", "threads", *flags.threads));
  if (flags.device) options.device = *flags.device;
  if (flags.sign) options.sign = *flags.sign;
  RunOutcome outcome;
  {
    ProgressBar bar(!flags.quiet);
    options.observers.push_back(&bar);
    RandomSource& random = SecureRandom::for_this_thread();
    outcome = flags.resume ? resume_run(options, random) : train(flags.plan.read(), options, random);
  }
  if (flags.json) {
    print_json(outcome, folder, now_in_seconds() - start);
  } else if (outcome.finished && !flags.quiet) {
    print_summary(outcome, folder);
  }
  if (!outcome.finished)
    throw Interrupted(fmt::format("stopped after step {}; continue with: ration train --resume {}",
                                  outcome.steps, in_shell(folder)));
}

constexpr const char* kExamples =
    R"(ration train adult.csv --schema adult.toml --epsilon 1 --delta 1e-6
ration train --plan examples/adult/plan.toml --data adult.data.gz --epsilon 1 --delta 1e-6 --out run1 --json
ration train --data mnist:DIR --epsilon 3 --delta 1e-5
ration train --plan plan.toml --data adult.csv --method dpsgd --rate 0.1 --steps 300 --lr 1 --out run2
ration train --resume run
)";

}  // namespace

void add_train(CLI::App& app) {
  auto flags = std::make_shared<Flags>();
  CLI::App& command = *app.add_subcommand(
      "train", "Train a model within a privacy budget; writes the model and its certificate");
  command.add_option("--out", flags->out, "Folder for the run; must not hold a run already [run]")
      ->type_name("DIR");
  command.add_option("--resume", flags->resume, "Continue the run in this folder")->type_name("DIR");
  add_threads_flag(command, flags->threads);
  offer(command
            .add_option("--device", flags->device,
                        "Where a network is computed: cpu (default), cuda, cuda:1, ...")
            ->type_name("NAME"),
        {"cpu", "cuda"});
  command
      .add_option("--sign", flags->sign,
                  "Ed25519 private key (PEM) that signs the certificate: certificate.sig, for 'ration verify "
                  "--key'")
      ->type_name("FILE");
  command.add_flag("--quiet", flags->quiet, "Show no progress bar and no summary");
  add_json_flag(command, flags->json);
  flags->plan.add_to(command);
  explain(command, {.examples = kExamples, .files = run_files()});
  command.callback([flags] { run_train(*flags); });
}

}  // namespace ration::cli
