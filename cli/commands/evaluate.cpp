#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/check.h"
#include "commands/commands.h"
#include "data/content_hash.h"
#include "data/named_data.h"
#include "flags/step_plan_flags.h"
#include "oracle/noisy_accuracy.h"
#include "ration/base/error.h"
#include "ration/privacy/ledger.h"
#include "ration/train/model.h"
#include "text/answer.h"
#include "text/output.h"

namespace ration::cli {
namespace {

using nlohmann::ordered_json;

struct EvaluateFlags {
  std::optional<std::string> run, data, epsilon, relation, ledger;
  bool is_public = false;
  bool json = false;
};

constexpr const char* kTwoChoices =
    "evaluate: are these rows public? Give --public if they are (exact figures), or --epsilon EPSILON if "
    "they are "
    "private (a noisy accuracy that costs epsilon), one of the two";

void require_one_choice(const EvaluateFlags& flags) {
  if (flags.is_public == flags.epsilon.has_value()) throw InputError(kTwoChoices);
  if (!flags.is_public) return;
  if (flags.ledger) throw InputError("--ledger goes with --epsilon; public rows cost nothing");
  if (flags.relation) throw InputError("--relation goes with --epsilon; public rows get no noise");
}

ordered_json exact_to_json(const EvaluateFlags& flags, const Model& model, const Evaluation& found,
                           double seconds) {
  ordered_json json{{"model", *flags.run}, {"data", *flags.data}, {"public", true},
                    {"rows", found.rows},  {"loss", found.loss},  {"loss_name", to_string(model.loss)}};
  if (found.accuracy) json["accuracy"] = *found.accuracy;
  if (found.root_mean_square_error) json["root_mean_square_error"] = *found.root_mean_square_error;
  json["seconds"] = seconds;
  return json;
}

std::string exact_to_text(const Model& model, const Evaluation& found) {
  std::string out = found.accuracy
                        ? fmt::format("accuracy {:.4f}", *found.accuracy)
                        : fmt::format("root mean square error {:.6g}", *found.root_mean_square_error);
  return out +
         fmt::format(", {} loss {:.6g}, on {} public rows\n", to_string(model.loss), found.loss, found.rows);
}

void evaluate_exactly(const EvaluateFlags& flags, const Model& model) {
  const double start = now_in_seconds();
  const Evaluation found = evaluate_public(model, data::read_table(*flags.data, model.schema));
  const double seconds = now_in_seconds() - start;
  print(flags.json ? exact_to_json(flags, model, found, seconds).dump(2) + "\n"
                   : exact_to_text(model, found));
}

// Throws BudgetRefused if too little is left; nothing without a ledger.
std::optional<Reservation> reserve(const EvaluateFlags& flags, const NoisyAccuracyOptions& options,
                                   Budget& remaining) {
  if (!flags.ledger) return std::nullopt;
  std::optional<Reservation> granted =
      Ledger(*flags.ledger)
          .reserve({.data_hash = data::content_hash(data::files_of(*flags.data)),
                    .relation = options.relation,
                    .budget = {options.epsilon, 0},
                    .what = "evaluate: accuracy of a saved model"},
                   &remaining);
  if (granted) return granted;
  throw BudgetRefused(fmt::format("{}: evaluating on {} needs epsilon {}, but only {} is left", *flags.ledger,
                                  *flags.data, show(options.epsilon), show_rounded_down(remaining.epsilon)));
}

// The right to spend, written down before a row is read.
class Charge {
 public:
  Charge(const EvaluateFlags& flags, const NoisyAccuracyOptions& options)
      : file_(flags.ledger.value_or("")), reservation_(reserve(flags, options, remaining_)) {}

  // Rows that cannot be read released nothing, so the charge is given back, as `train` does.
  data::Table read(const std::string& path, const data::Schema& schema) {
    try {
      return data::read_table(path, schema);
    } catch (const InputError&) {
      if (reservation_) reservation_->settle({0, 0}, SpendingBy::plan);
      throw;
    }
  }

  // Fixed before the rows were seen, and spent whole.
  void settle() {
    if (reservation_) reservation_->settle(reservation_->budget(), SpendingBy::plan);
  }

  ordered_json to_json() const {
    if (!reservation_) return nullptr;
    return {{"file", file_}, {"run", reservation_->run()}, {"epsilon_remaining", remaining_.epsilon}};
  }

  std::string to_text() const {
    if (!reservation_) return "no ledger kept account of it (--ledger FILE)";
    return fmt::format("{} has epsilon {} left", file_, show_rounded_down(remaining_.epsilon));
  }

 private:
  std::string file_;
  Budget remaining_{};  // before `reservation_`, which fills it
  std::optional<Reservation> reservation_;
};

// Without the time it took, which depends on the rows.
ordered_json noisy_to_json(const EvaluateFlags& flags, const NoisyAccuracyOptions& options,
                           const NoisyAccuracyQuery& query, const NoisyAccuracy& found,
                           const Charge& charge) {
  ordered_json json{
      {"model", *flags.run},        {"data", *flags.data}, {"public", false},
      {"epsilon", options.epsilon}, {"delta", 0},          {"relation", to_string(options.relation)},
      {"accuracy", nullptr},        {"rows", found.rows},  {"noise_scale", query.noise_scale()},
      {"ledger", charge.to_json()}};
  if (found.accuracy) json["accuracy"] = *found.accuracy;
  return json;
}

std::string noisy_to_text(const NoisyAccuracyOptions& options, const NoisyAccuracyQuery& query,
                          const NoisyAccuracy& found, const Charge& charge) {
  const std::string result = found.accuracy ? fmt::format("accuracy {:.4f} on about {:.0f} private rows",
                                                          *found.accuracy, found.rows)
                                            : "no accuracy: too few rows for so much noise";
  return fmt::format(
      "{}; the counts of right and wrong rows carry noise of scale {:.4g}\n"
      "it cost epsilon {}, delta 0, relation {}; {}\n",
      result, query.noise_scale(), show(options.epsilon), to_string(options.relation), charge.to_text());
}

NoisyAccuracyOptions read_options(const EvaluateFlags& flags) {
  NoisyAccuracyOptions options;
  options.epsilon = read_epsilon(flags.epsilon);
  if (flags.relation) options.relation = read_relation(*flags.relation);
  return options;
}

void evaluate_noisily(const EvaluateFlags& flags, const Model& model) {
  const NoisyAccuracyOptions options = read_options(flags);
  const NoisyAccuracyQuery query(options);
  if (model.classes == 0) {
    throw InputError(
        fmt::format("{}: label '{}' is a number; a private evaluation counts right classes, so use public "
                    "rows and --public",
                    *flags.run, model.schema.label));
  }
  Charge charge(flags, options);
  const data::Table table = charge.read(*flags.data, model.schema);
  const NoisyAccuracy found =
      query.release(predict(model, table), table.rows.labels(), SecureRandom::for_this_thread());
  charge.settle();
  print(flags.json ? noisy_to_json(flags, options, query, found, charge).dump(2) + "\n"
                   : noisy_to_text(options, query, found, charge));
}

void run_evaluate(const EvaluateFlags& flags) {
  if (!flags.run) throw InputError("evaluate: which model? ration evaluate RUN --data FILE --public");
  if (!flags.data) throw InputError("--data is needed: the rows to evaluate on, with their labels");
  require_one_choice(flags);
  const Model model = read_model(*flags.run);
  flags.is_public ? evaluate_exactly(flags, model) : evaluate_noisily(flags, model);
}

constexpr const char* kExamples = R"(
Examples:
  ration evaluate run --data test.csv --public
  ration evaluate run --data held_out.csv --epsilon 0.1 --ledger budget.db --json
)";

}  // namespace

void add_evaluate(CLI::App& app) {
  auto flags = std::make_shared<EvaluateFlags>();
  CLI::App& command = *app.add_subcommand("evaluate", "How good a saved model is, on public or private rows");
  command.add_option("run", flags->run, "A run's folder, or its model.json")->type_name("RUN");
  command.add_option("--data", flags->data, "Rows with labels, written as the model's schema says")
      ->type_name("FILE");
  command.add_flag("--public", flags->is_public, "The rows are public: exact figures");
  command
      .add_option("--epsilon", flags->epsilon,
                  "The rows are private: a noisy accuracy that costs epsilon, 1e-6 to 1000, and delta 0")
      ->type_name("EPSILON");
  command.add_option("--relation", flags->relation, "add_remove (default) or replace_one")->type_name("NAME");
  command
      .add_option("--ledger", flags->ledger,
                  "Charge this ledger; refused (exit status 2) if it has too little left")
      ->type_name("FILE");
  command.add_flag("--json", flags->json, "One JSON object on standard output, nothing else there");
  command.footer(kExamples);
  command.callback([flags] { run_evaluate(*flags); });
}

}  // namespace ration::cli
