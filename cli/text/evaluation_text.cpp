#include "text/evaluation_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/quote.h"
#include "text/text_table.h"

namespace ration::cli {
namespace {

using nlohmann::ordered_json;

// A figure of an evaluation, as it is shown.
struct Shown {
  const char* key;
  const char* words;
  std::optional<double> Evaluation::*value;
};
constexpr Shown kShown[] = {
    {"accuracy", "accuracy", &Evaluation::accuracy},
    {"balanced_accuracy", "balanced accuracy", &Evaluation::balanced_accuracy},
    {"auc", "AUC", &Evaluation::auc},
    {"log_loss", "log loss", &Evaluation::log_loss},
    {"brier", "Brier score", &Evaluation::brier},
    {"root_mean_square_error", "root mean square error", &Evaluation::root_mean_square_error},
    {"r2", "R^2", &Evaluation::r2},
    {"mean_absolute_error", "mean absolute error", &Evaluation::mean_absolute_error},
    {"majority", "majority", &Evaluation::majority},
};

bool is_in_the_first_line(const Shown& shown) {
  return shown.value == &Evaluation::accuracy || shown.value == &Evaluation::root_mean_square_error;
}

// By the names of the classes; null for one of which there was no row.
ordered_json recall_to_json(const std::vector<std::string>& classes, const Evaluation& found) {
  ordered_json recall = ordered_json::object();
  for (std::size_t c = 0; c < classes.size(); ++c) {
    recall[classes[c]] = nullptr;
    if (found.recall[c]) recall[classes[c]] = *found.recall[c];
  }
  return recall;
}

ordered_json confusion_to_json(const std::vector<std::string>& classes, const Evaluation& found) {
  ordered_json rows = ordered_json::object();
  for (std::size_t c = 0; c < classes.size(); ++c) {
    ordered_json told = ordered_json::object();
    for (std::size_t k = 0; k < classes.size(); ++k)
      told[classes[k]] = found.confusion[c * classes.size() + k];
    rows[classes[c]] = told;
  }
  return rows;
}

ordered_json calibration_to_json(const Evaluation& found) {
  ordered_json bins = ordered_json::array();
  for (const CalibrationBin& bin : found.calibration) {
    bins.push_back(
        {{"from", bin.from}, {"to", bin.to}, {"rows", bin.rows}, {"said", bin.said}, {"was", bin.was}});
  }
  return bins;
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

std::string further_figures(const Evaluation& found) {
  std::vector<std::string> figures;
  for (const Shown& shown : kShown) {
    const auto& value = found.*shown.value;
    if (!value || is_in_the_first_line(shown) || shown.value == &Evaluation::majority) continue;
    figures.push_back(fmt::format("{} {:.4f}", shown.words, *value));
  }
  return figures.empty() ? "" : fmt::format("{}\n", fmt::join(figures, ", "));
}

std::string confusion_to_text(const Model& model, const Evaluation& found) {
  const std::vector<std::string> classes = model.schema.class_names();
  std::vector<TextTable::Column> columns{{"rows of"}};
  for (const std::string& name : classes)
    columns.push_back({"told " + one_short_line(name), TextTable::Align::right});
  TextTable table(std::move(columns));
  for (std::size_t c = 0; c < classes.size(); ++c) {
    std::vector<std::string> cells{one_short_line(classes[c])};
    for (std::size_t k = 0; k < classes.size(); ++k)
      cells.push_back(std::to_string(found.confusion[c * classes.size() + k]));
    table.add_row(std::move(cells));
  }
  return table.render();
}

std::string calibration_to_text(const Model& model, const Evaluation& found) {
  const std::vector<std::string> classes = model.schema.class_names();
  const std::string what = classes.size() == 2 ? one_short_line(classes[1]) : "the likeliest class";
  TextTable table({{"probability of " + what},
                   {"rows", TextTable::Align::right},
                   {"said", TextTable::Align::right},
                   {"was", TextTable::Align::right}});
  for (const CalibrationBin& bin : found.calibration) {
    table.add_row({fmt::format("{:.1f} to {:.1f}", bin.from, bin.to), std::to_string(bin.rows),
                   fmt::format("{:.4f}", bin.said), fmt::format("{:.4f}", bin.was)});
  }
  return table.render();
}

}  // namespace

ordered_json evaluation_to_json(const Model& model, const Evaluation& found) {
  ordered_json json{{"rows", found.rows}, {"loss", found.loss}, {"loss_name", to_string(model.loss)}};
  for (const Shown& shown : kShown) {
    if (found.*shown.value) json[shown.key] = *(found.*shown.value);
  }
  if (found.confusion.empty()) return json;
  const std::vector<std::string> classes = model.schema.class_names();
  json["recall"] = recall_to_json(classes, found);
  json["confusion"] = confusion_to_json(classes, found);
  if (!found.calibration.empty()) json["calibration"] = calibration_to_json(found);
  return json;
}

std::string evaluation_to_text(const Model& model, const Evaluation& found, std::size_t left_out) {
  std::string out = found.accuracy
                        ? fmt::format("accuracy {:.4f}", *found.accuracy)
                        : fmt::format("root mean square error {:.6g}", *found.root_mean_square_error);
  out += fmt::format(", {} loss {:.6g}, on {} public rows", to_string(model.loss), found.loss, found.rows);
  if (left_out > 0) out += fmt::format("; {} more broke the schema and are left out", left_out);
  out += '\n';
  if (found.majority) out += recall_to_text(model, found);
  return out + further_figures(found);
}

std::string details_to_text(const Model& model, const Evaluation& found) {
  if (found.confusion.empty()) return "";
  const std::string out = "\n" + confusion_to_text(model, found);
  return found.calibration.empty() ? out : out + "\n" + calibration_to_text(model, found);
}

std::string groups_to_text(const std::string& column, const std::vector<GroupEvaluation>& groups) {
  std::vector<TextTable::Column> columns{{one_short_line(column)}, {"rows", TextTable::Align::right}};
  std::vector<Shown> kept;  // what some group has
  for (const Shown& shown : kShown) {
    const auto has_it = [&](const GroupEvaluation& group) { return (group.found.*shown.value).has_value(); };
    if (std::any_of(groups.begin(), groups.end(), has_it)) kept.push_back(shown);
  }
  for (const Shown& shown : kept) columns.push_back({shown.words, TextTable::Align::right});
  TextTable table(std::move(columns));
  for (const GroupEvaluation& group : groups) {
    std::vector<std::string> cells{one_short_line(group.value), std::to_string(group.found.rows)};
    for (const Shown& shown : kept) {
      const auto& value = group.found.*shown.value;
      cells.push_back(value ? fmt::format("{:.4f}", *value) : "-");
    }
    table.add_row(std::move(cells));
  }
  return "\n" + table.render();
}

}  // namespace ration::cli
