#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/atomic_file.h"
#include "base/check.h"
#include "base/read_number.h"
#include "commands/commands.h"
#include "flags/common_flags.h"
#include "flags/explain.h"
#include "flags/model_rows.h"
#include "flags/step_plan_flags.h"
#include "ration/base/error.h"
#include "ration/train/intervals.h"
#include "text/output.h"

namespace ration::cli {
namespace {

using nlohmann::ordered_json;

struct PredictFlags {
  std::optional<std::string> run, data, on_bad_row, intervals, out;
  bool json = false;
};

// What is said of one class or value after another.
struct Predictions {
  std::vector<double> values;
  std::vector<std::string> classes;             // empty if values are numbers
  std::vector<PredictionInterval> intervals{};  // if they were asked for

  const std::string& class_of(double value) const { return classes[static_cast<std::size_t>(value)]; }
};

// A field that every CSV reader takes as it is: quoted where it must be. An empty one too, since an empty
// line is no row.
std::string csv_field(const std::string& text) {
  const bool blank_at_end = text.starts_with(' ') || text.ends_with(' ');
  if (!text.empty() && !blank_at_end && text.find_first_of(",\"\r\n\t") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

// Of classes also how probable the one that was chosen is, which the interval is for.
std::string intervals_to_csv(const Predictions& predictions) {
  const bool has_classes = !predictions.classes.empty();
  std::string out = has_classes ? "prediction,probability,low,high\n" : "prediction,low,high\n";
  for (const PredictionInterval& one : predictions.intervals) {
    if (has_classes) {
      out += fmt::format("{},{:.4f},", csv_field(predictions.class_of(one.prediction)), one.probability);
      out += fmt::format("{:.4f},{:.4f}\n", one.low, one.high);
    } else {
      out += fmt::format("{},{},{}\n", show(one.prediction), show(one.low), show(one.high));
    }
  }
  return out;
}

std::string to_csv(const Predictions& predictions) {
  std::vector<std::string> fields;
  for (const std::string& name : predictions.classes) fields.push_back(csv_field(name) + "\n");
  if (!predictions.intervals.empty()) return intervals_to_csv(predictions);
  std::string out = "prediction\n";
  for (const double value : predictions.values) {
    out += fields.empty() ? show(value) + "\n" : fields[static_cast<std::size_t>(value)];
  }
  return out;
}

ordered_json to_json(const Predictions& predictions) {
  ordered_json list = ordered_json::array();
  for (const double value : predictions.values) {
    if (predictions.classes.empty()) {
      list.push_back(value);
    } else {
      list.push_back(predictions.class_of(value));
    }
  }
  return list;
}

ordered_json intervals_to_json(const Predictions& predictions) {
  ordered_json list = ordered_json::array();
  for (const PredictionInterval& one : predictions.intervals) {
    ordered_json entry;
    if (!predictions.classes.empty()) entry["probability"] = one.probability;
    entry["low"] = one.low;
    entry["high"] = one.high;
    list.push_back(std::move(entry));
  }
  return list;
}

// Line by line, predictions belong to the rows of the file.
data::OnBadRow read_on_bad_row(const std::optional<std::string>& name) {
  if (!name) return data::OnBadRow::refuse;
  const auto choice = named<data::OnBadRow>("--on-bad-row", *name);
  if (choice == data::OnBadRow::drop) {
    throw InputError(
        "--on-bad-row: expected refuse or clamp, got 'drop': every row gets its prediction, so that lines "
        "can "
        "be told apart; leave rows out of the file instead");
  }
  return choice;
}

void require_all(const data::Table& table, const std::string& data) {
  if (table.left_out == 0) return;
  throw InputError(
      fmt::format("{}: nothing can be predicted for {} of the rows: what clamp could bend is not there to be "
                  "read (too few fields, or too many); mend them, which refuse in place of clamp lists",
                  data, table.left_out));
}

// Without a number, 0.95.
double level_of(const PredictFlags& flags) {
  if (flags.intervals->empty()) return 0.95;
  return read_number("--intervals", "level", *flags.intervals, greater_than(0).less_than(1));
}

Predictions predict_file(const PredictFlags& flags) {
  const data::OnBadRow on_bad_row = read_on_bad_row(flags.on_bad_row);
  const Model model = read_model(*flags.run);
  const data::Table table = read_model_rows(model, *flags.data, {.labels = false, .on_bad_row = on_bad_row});
  require_all(table, *flags.data);
  Predictions out{.values = {}, .classes = table.classes};
  if (!flags.intervals) {
    out.values = predict(model, table);
    return out;
  }
  out.intervals = predict_with_intervals(model, table, level_of(flags));
  for (const PredictionInterval& one : out.intervals) out.values.push_back(one.prediction);
  return out;
}

void run_predict(const PredictFlags& flags) {
  if (!flags.run) throw InputError("predict: which model? ration predict RUN --data FILE");
  if (!flags.data) throw InputError("--data is needed: the rows to predict");
  const Predictions predictions = predict_file(flags);
  if (flags.out) write_file_atomically(*flags.out, to_csv(predictions));
  if (flags.json) {
    ordered_json json{{"model", *flags.run}, {"data", *flags.data}, {"rows", predictions.values.size()}};
    if (flags.out) json["out"] = *flags.out;
    json["predictions"] = to_json(predictions);
    if (flags.intervals) {
      json["level"] = level_of(flags);
      json["intervals"] = intervals_to_json(predictions);
    }
    print(json_text(json));
  } else if (!flags.out) {
    print(to_csv(predictions));
  }
}

}  // namespace

void add_predict(CLI::App& app) {
  auto flags = std::make_shared<PredictFlags>();
  CLI::App& command = *app.add_subcommand("predict", "Predict new rows with a saved model, as CSV");
  command.add_option("run", flags->run, "Folder of a run, or its model.json")->type_name("RUN");
  command
      .add_option("--data", flags->data,
                  "Rows in the format of the model's schema; the label column may be missing")
      ->type_name("FILE");
  offer(command
            .add_option("--on-bad-row", flags->on_bad_row,
                        "What happens to a row that breaks the model's schema: refuse the file, or clamp: "
                        "numbers go to the nearest bound, what cannot be read counts as zeros [refuse]")
            ->type_name("NAME"),
        {"refuse", "clamp"});
  command
      .add_option("--intervals", flags->intervals,
                  "Add what the noise of training may have done: low and high of the probability of the "
                  "class that is predicted, or of the value, at this level [0.95]; models of method auto")
      ->type_name("P")
      ->expected(0, 1);
  command.add_option("--out", flags->out, "Write the CSV to this file (default: standard output)")
      ->type_name("FILE");
  add_json_flag(command, flags->json);
  explain(command, {.examples = "ration predict run --data new.csv > predictions.csv\n"
                                "ration predict run --data new.csv --out predictions.csv\n"
                                "ration predict run --data new.csv --intervals\n"
                                "ration predict run --data new.csv --json\n"});
  command.callback([flags] { run_predict(*flags); });
}

}  // namespace ration::cli
