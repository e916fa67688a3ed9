#include "audit/audit.h"

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "audit/mechanisms.h"
#include "base/atomic_file.h"
#include "base/read_number.h"
#include "commands/commands.h"
#include "flags/common_flags.h"
#include "flags/explain.h"
#include "flags/plan_flags.h"
#include "interrupt.h"
#include "pictures/audit_plot.h"
#include "ration/base/error.h"
#include "ration/privacy/certificate.h"
#include "text/answer.h"
#include "text/audit_text.h"
#include "text/output.h"
#include "text/progress_bar.h"

namespace ration::cli {
namespace {

using nlohmann::ordered_json;
namespace fs = std::filesystem;

constexpr double kDeltaOfMechanisms = 1e-5;

struct AuditFlags {
  PlanFlags plan;
  std::optional<std::string> trials, confidence, canaries, plot, attach, threads;
  bool white_box = false;
  bool black_box = false;
  bool both = false;
  bool mechanisms = false;
  bool json = false;
  bool quiet = false;
};

audit::View view_of(const AuditFlags& flags) {
  if (flags.white_box + flags.black_box + flags.both > 1)
    throw InputError("--white-box, --black-box and --both say what the attacker sees; give one of them");
  if (flags.white_box) return audit::View::white_box;
  return flags.black_box ? audit::View::black_box : audit::View::both;
}

audit::AuditOptions options_of(const AuditFlags& flags) {
  audit::AuditOptions options{.view = view_of(flags)};
  if (flags.trials) {
    options.trials = static_cast<std::size_t>(
        read_number("--trials", "trials", *flags.trials, at_least(100).at_most(1e9)));
  }
  if (flags.confidence) {
    options.confidence =
        read_number("--confidence", "confidence", *flags.confidence, greater_than(0).less_than(1));
  }
  if (flags.canaries) {
    options.canaries = static_cast<std::size_t>(
        read_number("--canaries", "canaries", *flags.canaries, at_least(0).at_most(100'000)));
  }
  if (flags.threads)
    options.threads = static_cast<std::size_t>(read_count("--threads", "threads", *flags.threads));
  return options;
}

// A result is put beside a certificate only if it is about that certificate's own plan.
Plan plan_of(const AuditFlags& flags) {
  if (!flags.attach) return flags.plan.read();
  const std::string given = flags.plan.first_given();
  if (!given.empty()) {
    throw InputError(
        fmt::format("--attach audits the plan of the run in {}; leave {} out", *flags.attach, given));
  }
  return read_plan((fs::path(*flags.attach) / "plan.toml").string());
}

// What the certificate states is what is audited.
void claim_by_certificate(const std::string& run, audit::Claim& claim) {
  const Certificate certificate =
      certificate_from_json(read_file((fs::path(run) / "certificate.json").string()));
  if (!certificate.not_private.empty()) throw InputError(fmt::format("{}: promises nothing", run));
  claim.epsilon = certificate.epsilon;
  claim.delta = certificate.delta;
}

audit::Subject subject_of(const AuditFlags& flags) {
  if (!flags.attach && flags.plan.first_given().empty())
    throw InputError(
        "audit: which plan or run? ration audit PLAN, ration audit RUN, or --epsilon EPSILON --delta DELTA");
  const Plan plan = plan_of(flags);
  audit::Subject subject =
      flags.plan.names_data() ? audit::subject_in_data(plan) : audit::worst_case_subject(plan);
  if (flags.attach) claim_by_certificate(*flags.attach, subject.claim);
  return subject;
}

void refuse_plan_of_mechanisms(const AuditFlags& flags) {
  const std::string given = flags.plan.first_given();
  if (!given.empty())
    throw InputError(fmt::format("--mechanisms audits what every plan is made of; leave {} out", given));
  if (flags.attach) throw InputError("--mechanisms says nothing about one run; leave --attach out");
}

audit::Report find(const AuditFlags& flags) {
  audit::AuditOptions options = options_of(flags);
  const Interrupt interrupt;
  CountingBar bar(!flags.quiet, "runs");
  options.on_progress = [&](std::size_t done, std::size_t total) {
    bar.show(done, total);
    return !interrupt.flag().load(std::memory_order_relaxed);
  };
  try {
    if (!flags.mechanisms) return audit::audit_training(subject_of(flags), options);
    refuse_plan_of_mechanisms(flags);
    return audit::audit_mechanisms(1, kDeltaOfMechanisms, options);
  } catch (const audit::Stopped&) {
    throw Interrupted("stopped; an audit that was stopped says nothing");
  }
}

ordered_json json_of(const AuditFlags& flags, const audit::Report& report, double seconds) {
  ordered_json json = to_json(report);
  if (flags.plot) json["plot"] = *flags.plot;
  json["seconds"] = seconds;
  return json;
}

void write_results(const AuditFlags& flags, const audit::Report& report, const ordered_json& json) {
  if (flags.plot) write_file_atomically(*flags.plot, plot_audit(report));
  if (!flags.attach) return;
  const fs::path run = *flags.attach;
  write_file_atomically((run / "audit.json").string(), json.dump(2) + "\n");
  write_file_atomically((run / "audit.txt").string(), to_text(report));
  write_file_atomically((run / "audit.svg").string(), plot_audit(report));
}

void run_audit(const AuditFlags& flags) {
  const double start = now_in_seconds();
  const audit::Report report = find(flags);
  const ordered_json json = json_of(flags, report, now_in_seconds() - start);
  write_results(flags, report, json);
  if (flags.json) {
    print(json.dump(2) + "\n");
  } else {
    if (flags.plan.names_data())
      print("NOT PRIVATE: these figures are computed from the rows of the file, without noise.\n\n");
    print(to_text(report));
  }
  if (report.contradicts()) throw BudgetRefused("audit: the claim is contradicted");
}

constexpr const char* kAbout =
    "Runs the plan many times on two tables that differ in one row, made up so that this row is seen as well "
    "as it can be, and once on a table with many such rows. How often an attacker guesses right gives a "
    "lower "
    "bound on epsilon. A bound above the claim proves the claim false; a bound below it proves nothing.\n\n"
    "Without --data no private row is read. With --data the rows of that file are used; take public ones.";

constexpr const char* kExamples = R"(ration audit --epsilon 1 --delta 1e-5
ration audit plan.toml --trials 20000 --plot audit.svg
ration audit --attach run
ration audit --method agd --epsilon 2 --delta 1e-5 --black-box --json
ration audit --mechanisms --trials 100000
)";

}  // namespace

void add_audit(CLI::App& app) {
  auto flags = std::make_shared<AuditFlags>();
  CLI::App& command =
      *app.add_subcommand("audit", "Attack a plan, and hold what the attack proves against its claim");
  command.add_option("--trials", flags->trials, "Runs on each of two neighbours, trials >= 100 [5000]")
      ->type_name("N");
  command
      .add_option("--confidence", flags->confidence,
                  "That no bound is above the truth, 0 < confidence < 1 [0.95]")
      ->type_name("P");
  command.add_option("--canaries", flags->canaries, "Rows planted in the single run; 0: no such run [500]")
      ->type_name("N");
  command.add_flag("--white-box", flags->white_box, "The attacker sees every noisy gradient");
  command.add_flag("--black-box", flags->black_box, "The attacker sees the model alone");
  command.add_flag("--both", flags->both, "Both, one after the other (default)");
  command.add_flag("--mechanisms", flags->mechanisms,
                   "In place of a plan: every mechanism and every query of the oracle");
  command
      .add_option("--attach", flags->attach, "Audit the plan of this run, and put the result in its folder")
      ->type_name("RUN");
  command.add_option("--plot", flags->plot, "Write a plot of what the attacks see, as SVG")
      ->type_name("FILE");
  add_threads_flag(command, flags->threads);
  command.add_flag("--quiet", flags->quiet, "Show no progress bar");
  add_json_flag(command, flags->json);
  flags->plan.add_with_plan_word_to(command);
  explain(command, {.about = kAbout, .examples = kExamples});
  command.callback([flags] { run_audit(*flags); });
}

}  // namespace ration::cli
