#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/check.h"
#include "commands/commands.h"
#include "data/content_hash.h"
#include "data/named_data.h"
#include "flags/common_flags.h"
#include "flags/explain.h"
#include "flags/model_rows.h"
#include "flags/step_plan_flags.h"
#include "ration/base/error.h"
#include "ration/privacy/ledger.h"
#include "ration/train/model.h"
#include "text/answer.h"
#include "text/evaluation_text.h"
#include "text/output.h"
#include "train/evaluation.h"
#include "train/private_evaluation.h"
#include "train/run_origin.h"

namespace ration::cli {
namespace {

using nlohmann::ordered_json;

struct EvaluateFlags {
  std::optional<std::string> run, data, epsilon, relation, ledger, out, on_bad_row, by;
  bool is_public = false;
  bool no_ledger = false;
  bool data_hash = false;
  bool details = false;
  bool scores = false;
  bool json = false;
};

constexpr const char* kTwoChoices =
    "evaluate: are these rows public? Give --public if they are (exact figures), or --epsilon EPSILON if "
    "they are "
    "private (a noisy accuracy that costs epsilon), one of the two";

void require_one_choice(const EvaluateFlags& flags) {
  if (flags.is_public == flags.epsilon.has_value()) throw InputError(kTwoChoices);
  if (flags.ledger && flags.no_ledger)
    throw InputError("evaluate: expected --ledger or --no-ledger, got both");
  if (!flags.is_public && flags.by)
    throw InputError("--by goes with --public; private rows are not told apart");
  if (!flags.is_public && flags.details) throw InputError("--details goes with --public");
  if (!flags.is_public) return;
  if (flags.scores) throw InputError("--scores goes with --epsilon; public rows have all of it without");
  if (flags.no_ledger) throw InputError("--no-ledger goes with --epsilon; public rows cost nothing");
  if (flags.data_hash) throw InputError("--data-hash goes with --epsilon; public rows need no certificate");
  if (flags.relation) throw InputError("--relation goes with --epsilon; public rows get no noise");
  if (flags.out) throw InputError("--out goes with --epsilon; public rows need no certificate");
}

ordered_json groups_to_json(const EvaluateFlags& flags, const Model& model,
                            const std::vector<GroupEvaluation>& groups) {
  ordered_json all = ordered_json::array();
  for (const GroupEvaluation& group : groups) {
    ordered_json one{{"value", group.value}};
    one.update(evaluation_to_json(model, group.found));
    all.push_back(std::move(one));
  }
  return {{"column", *flags.by}, {"groups", std::move(all)}};
}

data::OnBadRow read_on_bad_row(const std::optional<std::string>& name) {
  return name ? named<data::OnBadRow>("--on-bad-row", *name) : data::OnBadRow::refuse;
}

void evaluate_exactly(const EvaluateFlags& flags, const Model& model) {
  if (flags.ledger) refuse_rows_of_ledger(*flags.ledger, *flags.data);
  RunOrigin(*flags.run).refuse_private_rows(*flags.data);
  const double start = now_in_seconds();
  const data::Table table =
      read_model_rows(model, *flags.data, {.on_bad_row = read_on_bad_row(flags.on_bad_row)});
  if (table.rows.count() == 0)
    throw InputError(fmt::format("{}: all {} rows break the model's schema", *flags.data, table.left_out));
  const Evaluation found = evaluate_public(model, table);
  const auto groups = flags.by ? evaluate_by(model, table, *flags.by) : std::vector<GroupEvaluation>{};
  const double seconds = now_in_seconds() - start;
  if (!flags.json) {
    return print(evaluation_to_text(model, found, table.left_out) +
                 (flags.details ? details_to_text(model, found) : "") +
                 (flags.by ? groups_to_text(*flags.by, groups) : ""));
  }
  ordered_json json{{"model", *flags.run}, {"data", *flags.data}, {"public", true}};
  json.update(evaluation_to_json(model, found));
  if (flags.by) json["by"] = groups_to_json(flags, model, groups);
  json["left_out"] = table.left_out;
  json["seconds"] = seconds;
  print(json_text(json));
}

ordered_json ledger_to_json(const PrivateEvaluation& result) {
  if (!result.remaining) return nullptr;
  const LedgerEntry& entry = *result.certificate.ledger;
  return {{"file", entry.file}, {"run", entry.run}, {"epsilon_remaining", result.remaining->epsilon}};
}

std::string ledger_to_text(const PrivateEvaluation& result) {
  if (!result.remaining) return "no ledger kept account of it (--ledger FILE)";
  return fmt::format("{} has epsilon {} left", result.certificate.ledger->file,
                     show_rounded_down(result.remaining->epsilon));
}

// Without the time it took, which depends on the rows.
ordered_json noisy_to_json(const EvaluateFlags& flags, const PrivateEvaluationOptions& options,
                           const Model& model, const PrivateEvaluation& result) {
  ordered_json json{{"model", *flags.run}, {"data", *flags.data},
                    {"public", false},     {"epsilon", options.accuracy.epsilon},
                    {"delta", 0},          {"relation", to_string(options.accuracy.relation)}};
  json.update(figures_to_json(model, result));
  json["ledger"] = ledger_to_json(result);
  json["out"] = nullptr;
  if (!result.folder.empty()) json["out"] = result.folder;
  return json;
}

std::string figure(const char* words, const std::optional<NoisyFigure>& found) {
  return found ? fmt::format(", {} {:.4f} +- {:.4f}", words, found->value, found->error) : "";
}

// What a histogram says beside the accuracy; what is missing has too few rows for so much noise.
std::string scores_to_text(const NoisyScores& scores) {
  const ScoreFigures& figures = scores.figures;
  std::string text = figure("balanced accuracy", figures.balanced_accuracy) + figure("AUC", figures.auc) +
                     figure("log loss", figures.log_loss) + figure("Brier score", figures.brier);
  if (text.empty()) return "";
  return text.substr(2) + "\n";
}

std::string noisy_to_text(const PrivateEvaluationOptions& options, const PrivateEvaluation& result) {
  const NoisyAccuracy& found = result.found;
  const std::string accuracy = found.accuracy
                                   ? fmt::format("accuracy {:.4f} +- {:.4f} on about {:.0f} private rows",
                                                 *found.accuracy, found.error, found.rows)
                                   : "no accuracy: too few rows for so much noise";
  std::string text = fmt::format(
      "{}; {} carry noise of scale {:.4g}\n", accuracy,
      result.scores ? "the counts of rows by class and score" : "the counts of right and wrong rows",
      result.noise_scale);
  if (result.scores) text += scores_to_text(*result.scores);
  text += fmt::format("it cost epsilon {}, delta 0, relation {}; {}\n", show(options.accuracy.epsilon),
                      to_string(options.accuracy.relation), ledger_to_text(result));
  if (!result.folder.empty()) text += fmt::format("its certificate is in {}\n", result.folder);
  return text;
}

// Rows that were private once are private for ever: without a word about it, the ledger is the run's.
std::string ledger_of(const EvaluateFlags& flags) {
  if (flags.ledger) return *flags.ledger;
  if (flags.no_ledger) return "";
  const std::string ledger = RunOrigin(*flags.run).ledger();
  if (ledger.empty()) return "";
  if (!Ledger::open_to_read(ledger).knows(data::content_hash(data::files_of(*flags.data)))) {
    throw InputError(fmt::format(
        "{}: the run's ledger has no budget for {}; give it one by 'ration ledger init', name "
        "another ledger by --ledger FILE, or give --no-ledger if nobody keeps account of these rows",
        ledger, *flags.data));
  }
  return ledger;
}

PrivateEvaluationOptions read_options(const EvaluateFlags& flags) {
  PrivateEvaluationOptions options;
  options.accuracy.epsilon = read_epsilon(flags.epsilon);
  if (flags.relation) options.accuracy.relation = named<Relation>("--relation", *flags.relation);
  options.scores = flags.scores;
  options.on_bad_row = read_on_bad_row(flags.on_bad_row);
  options.ledger = ledger_of(flags);
  options.data_hash = flags.data_hash;
  options.out = flags.out.value_or("");
  if (std::filesystem::is_directory(*flags.run)) options.run = *flags.run;
  return options;
}

void evaluate_noisily(const EvaluateFlags& flags, const Model& model) {
  const PrivateEvaluationOptions options = read_options(flags);
  const PrivateEvaluation result =
      evaluate_privately(model, *flags.data, options, SecureRandom::for_this_thread());
  print(flags.json ? json_text(noisy_to_json(flags, options, model, result))
                   : noisy_to_text(options, result));
}

void run_evaluate(const EvaluateFlags& flags) {
  if (!flags.run) throw InputError("evaluate: which model? ration evaluate RUN --data FILE --public");
  if (!flags.data) throw InputError("--data is needed: the rows to evaluate on, with their labels");
  require_one_choice(flags);
  const Model model = read_model(*flags.run);
  flags.is_public ? evaluate_exactly(flags, model) : evaluate_noisily(flags, model);
}

constexpr const char* kExamples = R"(ration evaluate run --data test.csv --public
ration evaluate run --data test.csv --public --by sex --details
ration evaluate run --data held_out.csv --epsilon 0.1 --json
ration evaluate run --data held_out.csv --epsilon 0.1 --ledger budget.db
ration evaluate run --data held_out.csv --epsilon 0.5 --scores
)";

}  // namespace

void add_evaluate(CLI::App& app) {
  auto flags = std::make_shared<EvaluateFlags>();
  CLI::App& command =
      *app.add_subcommand("evaluate", "Measure the accuracy of a saved model, on public or private rows");
  command.add_option("run", flags->run, "Folder of a run, or its model.json")->type_name("RUN");
  command.add_option("--data", flags->data, "Rows with labels, in the format of the model's schema")
      ->type_name("FILE");
  command.add_flag("--public", flags->is_public, "The rows are public: report exact figures");
  command
      .add_option(
          "--epsilon", flags->epsilon,
          "The rows are private: report a noisy accuracy that costs this epsilon, 1e-6 to 1000, and delta 0")
      ->type_name("EPSILON");
  command.add_flag(
      "--scores", flags->scores,
      "With --epsilon, of a model of two classes: release a histogram of its scores, which "
      "says AUC, calibration, recall at any threshold, log loss and Brier score at the same price; "
      "the accuracy is then some four times as noisy");
  add_relation_flag(command, flags->relation);
  command
      .add_option("--by", flags->by,
                  "With --public: also for the rows of each value of this column, a category of the schema")
      ->type_name("COLUMN");
  command.add_flag("--details", flags->details,
                   "With --public: also the confusion matrix and how well probabilities are calibrated; "
                   "--json always has them");
  offer_names<data::OnBadRow>(command
                                  .add_option("--on-bad-row", flags->on_bad_row,
                                              "What happens to a row that breaks the model's schema [refuse]")
                                  ->type_name("NAME"));
  command
      .add_option(
          "--ledger", flags->ledger,
          "Charge this ledger; exit status 2 if too little budget is left (default: the ledger of the "
          "run, if it had one). With --public: refuse rows that have a budget in it, too")
      ->type_name("FILE");
  command.add_flag("--no-ledger", flags->no_ledger,
                   "Charge no ledger though the run had one: nobody keeps account of these rows");
  command.add_flag(
      "--data-hash", flags->data_hash,
      "Put the SHA-256 of the rows into the certificate; it confirms a guess of the whole table");
  command
      .add_option(
          "--out", flags->out,
          "Folder for the result and its certificate; default: evaluation-1, -2, ... in the run's folder")
      ->type_name("FOLDER");
  add_json_flag(command, flags->json);
  explain(command, {.examples = kExamples});
  command.callback([flags] { run_evaluate(*flags); });
}

}  // namespace ration::cli
