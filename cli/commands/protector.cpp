#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "base/read_number.h"
#include "commands/commands.h"
#include "flags/common_flags.h"
#include "flags/explain.h"
#include "flags/step_plan_flags.h"
#include "flags/task_flags.h"
#include "interrupt.h"
#include "meta/train_protector.h"
#include "ration/base/error.h"
#include "text/answer.h"
#include "text/output.h"
#include "text/progress_bar.h"

namespace ration::cli {
namespace {

using nlohmann::ordered_json;

struct TrainingFlags {
  TaskFlags tasks;
  std::optional<std::string> epsilon, delta, out;
  std::optional<std::string> steps, epochs, seed, scheduler, norm, rate, clip_bound, learning_rate,
      output_scale;
  std::optional<std::string> rows, unrolls, from, threads;
  bool json = false;
  bool quiet = false;
};

struct ShowFlags {
  std::optional<std::string> file;
  bool json = false;
};

// --- show

std::string describe_scheduler(const Protector& protector) {
  if (protector.scheduler.empty()) return "none: the same noise in each step";
  return fmt::format("{} numbers; sees {}", protector.scheduler.size(),
                     protector.norm == NormSource::released
                         ? "a noisy norm, which costs budget in each step"
                         : "the norm of the previous gradient, which is free");
}

std::string to_text(const Protector& protector) {
  const ProtectorOrigin& origin = protector.origin;
  std::string text;
  const auto line = [&](std::string_view name, const std::string& value) {
    text += fmt::format("{:<12}{}\n", name, value);
  };
  line("trained on", fmt::format("{}, model {}", origin.tasks, origin.model));
  line("for", fmt::format("epsilon {}, delta {}, {} steps of even noise, {}, clip bound {}",
                          show(origin.epsilon), show(origin.delta), origin.steps,
                          origin.rate < 1 ? fmt::format("rate {}", show(origin.rate)) : "all rows",
                          show(origin.clip_bound)));
  line("scheduler", describe_scheduler(protector));
  line("projector", fmt::format("{} numbers, 2 x {} units, output scale {}", protector.projector.size(),
                                protector.units, show(protector.output_scale)));
  line("validation", fmt::format("loss {:.4g} when the budget is used up, {:.4g} at the start",
                                 origin.validation_loss, origin.untrained_loss));
  for (const std::string& hash : origin.data_hashes) line("has seen", "data with sha256 " + hash);
  if (origin.data_hashes.empty()) line("has seen", "no data: its tasks were made up");
  line("sha256", sha256_of(protector));
  line("made by", "ration " + origin.version);
  return text;
}

void write_to(ordered_json& json, const Protector& protector) {
  const ProtectorOrigin& origin = protector.origin;
  json["tasks"] = origin.tasks;
  json["model"] = origin.model;
  json["epsilon"] = origin.epsilon;
  json["delta"] = origin.delta;
  json["steps"] = origin.steps;
  json["rate"] = origin.rate;
  json["clip_bound"] = origin.clip_bound;
  json["epochs"] = origin.epochs;
  json["scheduler"] = !protector.scheduler.empty();
  json["norm"] = to_string(protector.norm);
  json["units"] = protector.units;
  json["output_scale"] = protector.output_scale;
  json["validation_loss"] = origin.validation_loss;
  json["untrained_loss"] = origin.untrained_loss;
  json["data_sha256"] = origin.data_hashes;
  json["sha256"] = sha256_of(protector);
  json["version"] = origin.version;
}

void run_show(const ShowFlags& flags) {
  if (!flags.file) throw InputError("protector show: which file? ration protector show FILE");
  const Protector protector = read_protector(*flags.file);
  if (!flags.json) return print(to_text(protector));
  ordered_json json{{"file", *flags.file}};
  write_to(json, protector);
  print(json_text(json));
}

// --- train

constexpr std::size_t kUnrolls = 2;  // the fewer, the more updates in the same time

meta::MetaOptions read_options(const TrainingFlags& flags) {
  meta::MetaOptions options;
  options.budget = {read_epsilon(flags.epsilon), read_delta(flags.delta)};
  if (flags.steps) options.steps = read_count("--steps", "steps", *flags.steps);
  if (flags.epochs) options.epochs = read_count("--epochs", "epochs", *flags.epochs);
  if (flags.seed) options.seed = static_cast<std::uint64_t>(read_count("--seed", "seed", *flags.seed));
  if (flags.norm) options.norm = named<NormSource>("--norm", *flags.norm);
  options.scheduler = flags.scheduler != "none";
  if (flags.scheduler && options.scheduler)
    options.training = named<meta::SchedulerTraining>("--scheduler", *flags.scheduler, {"none"});
  if (flags.clip_bound)
    options.clip =
        Abadi{read_number("--clip-bound", "clip_bound", *flags.clip_bound, greater_than(0).at_most(1e200))};
  if (flags.learning_rate)
    options.learning_rate =
        read_number("--learning-rate", "learning_rate", *flags.learning_rate, greater_than(0));
  if (flags.output_scale)
    options.output_scale =
        read_number("--output-scale", "output_scale", *flags.output_scale, greater_than(0).at_most(1e6));
  if (flags.rows) options.rows = read_number("--rows", "rows", *flags.rows, at_least(1).at_most(1e15));
  options.unrolls = kUnrolls;
  if (flags.unrolls)
    options.unrolls = static_cast<std::size_t>(read_count("--unrolls", "unrolls", *flags.unrolls));
  if (flags.from) options.from = std::make_shared<const Protector>(read_protector(*flags.from));
  if (flags.threads)
    options.threads = static_cast<std::size_t>(read_count("--threads", "threads", *flags.threads));
  return options;
}

double read_rate(const TrainingFlags& flags) {
  return flags.rate ? read_number("--rate", "rate", *flags.rate, greater_than(0).at_most(1)) : 1;
}

// Batches of a fixed size and released norms are for replace_one.
void suit_accounting(meta::MetaOptions& options, double rate) {
  if (rate < 1) options.accountant = Accountant::rdp;
  if (rate < 1 || options.norm == NormSource::released) options.relation = Relation::replace_one;
}

// One line on standard error that is rewritten as the training goes on; silent unless that is a terminal.
class MetaProgressBar {
 public:
  explicit MetaProgressBar(bool wanted) : shown_(wanted && isatty(STDERR_FILENO) == 1) {}
  ~MetaProgressBar() {
    if (dirty_) fmt::print(stderr, "\r\033[K");
  }
  MetaProgressBar(const MetaProgressBar&) = delete;
  MetaProgressBar& operator=(const MetaProgressBar&) = delete;

  void show(const meta::MetaProgress& progress) {
    if (!shown_) return;
    dirty_ = true;
    const std::string best = std::isfinite(progress.validation_loss)
                                 ? fmt::format("  best validation {:.4g}", progress.validation_loss)
                                 : "";
    fmt::print(stderr, "\r\033[Kepoch {} of {} {}  {}  training {:.3g} of the first loss{}", progress.epoch,
               progress.epochs,
               bar(static_cast<double>(progress.epoch) / static_cast<double>(progress.epochs), 24),
               progress.stage, progress.training_loss, best);
    std::fflush(stderr);
  }

 private:
  bool shown_;
  bool dirty_ = false;
};

Protector train_until_stopped(const meta::MetaOptions& options, const meta::PublicTasks& tasks,
                              ProtectorOrigin origin, bool shows_progress) {
  MetaProgressBar bar(shows_progress);
  try {
    return meta::train_protector(options, tasks.source, tasks.source, std::move(origin),
                                 [&bar](const meta::MetaProgress& progress) { bar.show(progress); });
  } catch (const InputError&) {
    if (!options.stop->load(std::memory_order_relaxed)) throw;
    throw Interrupted(
        "stopped before the first validation: there is no protector yet, and nothing was written");
  }
}

void print_result(const TrainingFlags& flags, const Protector& protector, const std::string& warning,
                  bool stopped, double seconds) {
  if (flags.json) {
    ordered_json json{{"out", *flags.out}, {"finished", !stopped}};
    write_to(json, protector);
    if (!warning.empty()) json["warning"] = warning;
    json["private"] = false;
    json["seconds"] = seconds;
    return print(json_text(json));
  }
  if (!flags.quiet) print(to_text(protector) + fmt::format("\nprotector: {}\n", *flags.out));
}

void run_training(const TrainingFlags& flags) {
  const double start = now_in_seconds();
  meta::MetaOptions options = read_options(flags);
  if (!flags.out) throw InputError("--out is needed: the file for the protector");
  const double rate = read_rate(flags);
  suit_accounting(options, rate);
  const Interrupt interrupt;
  options.stop = &interrupt.flag();
  const NamedTasks named = read_tasks(flags.tasks, rate);
  const meta::PublicTasks& tasks = named.tasks;
  if (!named.warning.empty() && !flags.json) fmt::print(stderr, "ration: warning: {}\n", named.warning);
  if (options.rows == 0) options.rows = tasks.rows;
  ProtectorOrigin origin = tasks.origin;
  // What the protector that it goes on from has seen, it has seen too.
  if (options.from)
    origin.data_hashes.insert(origin.data_hashes.end(), options.from->origin.data_hashes.begin(),
                              options.from->origin.data_hashes.end());
  origin.rate = rate;
  origin.clip_bound = options.clip.bound();
  const Protector protector = train_until_stopped(options, tasks, std::move(origin), !flags.quiet);
  write_file_atomically(*flags.out, to_json(protector));
  const bool stopped = options.stop->load(std::memory_order_relaxed);
  print_result(flags, protector, named.warning, stopped, now_in_seconds() - start);
  if (stopped) throw Interrupted(fmt::format("stopped; {} holds the best protector so far", *flags.out));
}

// --- the commands

constexpr const char* kTrainExamples =
    R"(ration protector train --tasks quadratic --epsilon 0.05 --delta 1e-8 --out quad.protector
ration protector train --tasks table --model hinge --epsilon 0.2 --delta 1e-8 --out hinge.protector
ration protector train --tasks table --data public.csv --schema schema.toml \
  --epsilon 0.05 --delta 1e-8 --out mine.protector
ration protector train --tasks images --data mnist:mnist --pair 4,6 \
  --epsilon 0.05 --delta 1e-8 --out digits.protector
ration train private.csv --schema private.toml --method l2p --protector mine.protector \
  --epsilon 0.05 --delta 1e-8 --out run
)";

void add_training(CLI::App& app) {
  auto flags = std::make_shared<TrainingFlags>();
  CLI::App& command =
      *app.add_subcommand("train", "Train a protector on PUBLIC tasks, which are read without privacy");
  const auto add = [&](const char* name, std::optional<std::string>& value, const char* type,
                       const char* help, const char* group) {
    return command.add_option(name, value, help)->type_name(type)->group(group);
  };
  constexpr const char* kTasks = "Tasks";
  constexpr const char* kPractice = "Practice";
  offer_names<TaskKind>(
      add("--tasks", flags->tasks.tasks, "NAME",
          "quadratic: random quadratics; table: generated tables, or halves of --data; images: two classes "
          "of --data",
          kTasks));
  add("--data", flags->tasks.data, "FILE", "PUBLIC rows, read without privacy", kTasks);
  add("--schema", flags->tasks.schema, "FILE", "Schema of the rows (default: drafted from them)", kTasks);
  add("--target", flags->tasks.target, "COLUMN", "Label column (default: the schema's, or the last column)",
      kTasks);
  offer(add("--model", flags->tasks.model, "NAME", "Model: logistic (default), hinge, huber or softmax",
            kTasks),
        {"logistic", "hinge", "huber", "softmax"});
  add("--pair", flags->tasks.pair, "A,B", "Two classes of the images", kTasks);
  add("--epsilon", flags->epsilon, "EPS", "Epsilon that it learns to spend, > 0", "Budget");
  add("--delta", flags->delta, "DELTA", "Delta that it learns to spend, 0 < delta < 1", "Budget");
  add("--steps", flags->steps, "T", "Number of steps that the budget lasts for with even noise", kPractice);
  add("--rate", flags->rate, "Q", "Fraction of the rows that a step sees (default: 1)", kPractice);
  add("--rows", flags->rows, "N",
      "Use the noise of a private table with this many rows (default: as many as --data has)", kPractice);
  offer_names<NormSource>(
      add("--norm", flags->norm, "NAME",
          "previous (default): the scheduler sees the norm of the last gradient; released: a noisy norm that "
          "costs budget in each step",
          kPractice));
  add("--clip-bound", flags->clip_bound, "R", "Clip bound of a row's gradient (default: 1)", kPractice);
  offer_names<meta::SchedulerTraining>(
      add("--scheduler", flags->scheduler, "NAME",
          "How the scheduler learns: soft (default), lagrangian, batch, batch-soft; or none", "Training"),
      {{"none", "No scheduler: even noise."}});
  add("--epochs", flags->epochs, "N", "Number of epochs at full noise", "Training");
  add("--unrolls", flags->unrolls, "N", "Number of tasks averaged in an update (default: 2)", "Training");
  add("--from", flags->from, "FILE", "Start from this protector instead of pre-training", "Training");
  add("--learning-rate", flags->learning_rate, "X", "Learning rate of both LSTMs", "Training");
  add("--output-scale", flags->output_scale, "X", "Factor on the projector's output", "Training");
  add("--seed", flags->seed, "N",
      "Random seed; the same seed gives the same protector (all of this is public)", "Training");
  command.add_option("--out", flags->out, "File for the protector")->type_name("FILE");
  add_threads_flag(command, flags->threads);
  command.add_flag("--quiet", flags->quiet, "Show no progress bar and no summary");
  add_json_flag(command, flags->json);
  explain(command, {.examples = kTrainExamples});
  command.callback([flags] { run_training(*flags); });
}

void add_show(CLI::App& app) {
  auto flags = std::make_shared<ShowFlags>();
  CLI::App& command = *app.add_subcommand("show", "Show what a protector was trained for, and on what");
  command.add_option("file", flags->file, "Protector file")->type_name("FILE");
  add_json_flag(command, flags->json);
  explain(command, {.examples = "ration protector show mine.protector\n"});
  command.callback([flags] { run_show(*flags); });
}

}  // namespace

void add_protector(CLI::App& app) {
  CLI::App& command =
      *app.add_subcommand("protector", "Train and inspect learned protectors, for --method l2p");
  command.require_subcommand(1);
  add_training(command);
  add_show(command);
}

}  // namespace ration::cli
