#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/check.h"
#include "base/quote.h"
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
#include "text/output.h"
#include "train/private_evaluation.h"
#include "train/run_origin.h"

namespace ration::cli {
namespace {

using nlohmann::ordered_json;

struct EvaluateFlags {
  std::optional<std::string> run, data, epsilon, relation, ledger, out, on_bad_row;
  bool is_public = false;
  bool no_ledger = false;
  bool data_hash = false;
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
  if (!flags.is_public) return;
  if (flags.no_ledger) throw InputError("--no-ledger goes with --epsilon; public rows cost nothing");
  if (flags.data_hash) throw InputError("--data-hash goes with --epsilon; public rows need no certificate");
  if (flags.relation) throw InputError("--relation goes with --epsilon; public rows get no noise");
  if (flags.out) throw InputError("--out goes with --epsilon; public rows need no certificate");
}

// By the names of the classes; null for one of which there was no row.
ordered_json recall_to_json(const Model& model, const Evaluation& found) {
  ordered_json recall = ordered_json::object();
  const std::vector<std::string> classes = model.schema.class_names();
  for (std::size_t c = 0; c < classes.size(); ++c) {
    recall[classes[c]] = nullptr;
    if (found.recall[c]) recall[classes[c]] = *found.recall[c];
  }
  return recall;
}

std::string recall_to_text(const Model& model, const Evaluation& found) {
  std::vector<std::string> recall;
  const std::vector<std::string> classes = model.schema.class_names();
  for (std::size_t c = 0; c < classes.size(); ++c) {
    const std::string share = found.recall[c] ? fmt::format("{:.4f}", *found.recall[c]) : "no rows";
    recall.push_back(fmt::format("{} {}", one_short_line(classes[c]), share));
  }
  return fmt::format("the most frequent class alone: accuracy {:.4f}\nrecall: {}\n", *found.majority,
                     fmt::join(recall, ", "));
}

ordered_json exact_to_json(const EvaluateFlags& flags, const Model& model, const Evaluation& found,
                           std::size_t left_out, double seconds) {
  ordered_json json{{"model", *flags.run}, {"data", *flags.data}, {"public", true},
                    {"rows", found.rows},  {"loss", found.loss},  {"loss_name", to_string(model.loss)}};
  if (found.accuracy) json["accuracy"] = *found.accuracy;
  if (found.root_mean_square_error) json["root_mean_square_error"] = *found.root_mean_square_error;
  if (found.majority) {
    json["majority"] = *found.majority;
    json["recall"] = recall_to_json(model, found);
  }
  json["left_out"] = left_out;
  json["seconds"] = seconds;
  return json;
}

std::string exact_to_text(const Model& model, const Evaluation& found, std::size_t left_out) {
  std::string out = found.accuracy
                        ? fmt::format("accuracy {:.4f}", *found.accuracy)
                        : fmt::format("root mean square error {:.6g}", *found.root_mean_square_error);
  out += fmt::format(", {} loss {:.6g}, on {} public rows", to_string(model.loss), found.loss, found.rows);
  if (left_out > 0) out += fmt::format("; {} more broke the schema and are left out", left_out);
  out += '\n';
  return found.majority ? out + recall_to_text(model, found) : out;
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
  const double seconds = now_in_seconds() - start;
  print(flags.json ? json_text(exact_to_json(flags, model, found, table.left_out, seconds))
                   : exact_to_text(model, found, table.left_out));
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
                           const PrivateEvaluation& result) {
  ordered_json json{{"model", *flags.run},
                    {"data", *flags.data},
                    {"public", false},
                    {"epsilon", options.accuracy.epsilon},
                    {"delta", 0},
                    {"relation", to_string(options.accuracy.relation)},
                    {"accuracy", nullptr},
                    {"rows", result.found.rows},
                    {"noise_scale", result.noise_scale},
                    {"ledger", ledger_to_json(result)},
                    {"out", nullptr}};
  if (result.found.accuracy) json["accuracy"] = *result.found.accuracy;
  if (!result.folder.empty()) json["out"] = result.folder;
  return json;
}

std::string noisy_to_text(const PrivateEvaluationOptions& options, const PrivateEvaluation& result) {
  const NoisyAccuracy& found = result.found;
  const std::string accuracy = found.accuracy ? fmt::format("accuracy {:.4f} on about {:.0f} private rows",
                                                            *found.accuracy, found.rows)
                                              : "no accuracy: too few rows for so much noise";
  std::string text = fmt::format(
      "{}; the counts of right and wrong rows carry noise of scale {:.4g}\n"
      "it cost epsilon {}, delta 0, relation {}; {}\n",
      accuracy, result.noise_scale, show(options.accuracy.epsilon), to_string(options.accuracy.relation),
      ledger_to_text(result));
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
  print(flags.json ? json_text(noisy_to_json(flags, options, result)) : noisy_to_text(options, result));
}

void run_evaluate(const EvaluateFlags& flags) {
  if (!flags.run) throw InputError("evaluate: which model? ration evaluate RUN --data FILE --public");
  if (!flags.data) throw InputError("--data is needed: the rows to evaluate on, with their labels");
  require_one_choice(flags);
  const Model model = read_model(*flags.run);
  flags.is_public ? evaluate_exactly(flags, model) : evaluate_noisily(flags, model);
}

constexpr const char* kExamples = R"(ration evaluate run --data test.csv --public
ration evaluate run --data held_out.csv --epsilon 0.1 --json
ration evaluate run --data held_out.csv --epsilon 0.1 --ledger budget.db
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
  add_relation_flag(command, flags->relation);
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
