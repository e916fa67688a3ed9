#include "train/evaluation.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "base/quote.h"
#include "data/select_rows.h"
#include "metrics/classification.h"
#include "metrics/ranking.h"
#include "metrics/regression.h"
#include "ration/base/error.h"
#include "ration/objectives/row_outputs.h"
#include "train/model_objective.h"
#include "train/model_shape.h"

namespace ration {
namespace {

// A label's bounds are public, so no prediction need lie outside.
void keep_within_bounds(const Model& model, std::span<double> predictions) {
  if (model.classes > 0) return;
  const data::Column& label = model.schema.label_column();
  for (double& value : predictions) value = std::clamp(value, label.low, label.high);
}

double share_of_equal(std::span<const double> a, std::span<const double> b) {
  std::size_t equal = 0;
  for (std::size_t i = 0; i < a.size(); ++i) equal += a[i] == b[i] ? 1 : 0;
  return static_cast<double>(equal) / static_cast<double>(a.size());
}

double share_of_most_frequent(std::span<const std::size_t> confusion, std::size_t classes, std::size_t rows) {
  std::size_t most = 0;
  for (std::size_t k = 0; k < classes; ++k) {
    const auto of_class = confusion.subspan(k * classes, classes);
    most = std::max(most, std::accumulate(of_class.begin(), of_class.end(), std::size_t{0}));
  }
  return static_cast<double>(most) / static_cast<double>(rows);
}

// Outputs may be of any scale, for they are ranked.
std::optional<double> auc_of(std::span<const double> outputs, std::size_t per_row,
                             std::span<const double> labels, std::size_t classes) {
  if (per_row == 1) return area_under_roc(outputs, labels, 1);
  return mean_area_under_roc(log_odds(outputs, classes), labels, classes);
}

// What the class of each row is chosen by, as many per row as the model has.
std::vector<double> outputs_of(const Model& model, const std::shared_ptr<const Rows>& rows) {
  std::vector<double> z(rows->count() * outputs(model));
  if (model.network.empty()) {
    outputs_glm(*rows, glm_options(model), model.weights, z);
    return z;
  }
  const auto objective = make_objective(model, rows, {}, Labels::unused);
  auto* const network = dynamic_cast<RowOutputs*>(objective.get());
  if (network == nullptr) throw InternalError("evaluate: the network does not tell its outputs");
  network->outputs(model.weights, z);
  return z;
}

void measure_outputs(const Model& model, const std::shared_ptr<const Rows>& rows, Evaluation& out) {
  const std::vector<double> z = outputs_of(model, rows);
  out.auc = auc_of(z, outputs(model), rows->labels(), model.classes);
  if (!gives_probabilities(model)) return;
  const std::vector<double> probabilities = class_probabilities(z, outputs(model), model.classes);
  out.brier = brier_score(probabilities, rows->labels(), model.classes);
  out.calibration = calibration(probabilities, rows->labels(), model.classes);
}

void measure_classes(const Model& model, const std::shared_ptr<const Rows>& rows,
                     std::span<const double> predictions, Evaluation& out) {
  out.accuracy = share_of_equal(predictions, rows->labels());
  out.confusion = confusion_matrix(predictions, rows->labels(), model.classes);
  out.majority = share_of_most_frequent(out.confusion, model.classes, out.rows);
  out.recall = recalls(out.confusion, model.classes);
  out.balanced_accuracy = balanced_accuracy(out.recall);
  if (gives_probabilities(model)) out.log_loss = out.loss;
  measure_outputs(model, rows, out);
}

void measure_numbers(std::span<const double> predictions, std::span<const double> labels, Evaluation& out) {
  out.root_mean_square_error = root_mean_square_error(predictions, labels);
  out.mean_absolute_error = mean_absolute_error(predictions, labels);
  out.r2 = r_squared(predictions, labels);
}

// The one-hot columns of a category, with the names of their values.
std::vector<std::pair<std::size_t, std::string>> values_of(const data::Table& table,
                                                           const std::string& name) {
  std::vector<std::pair<std::size_t, std::string>> values;
  for (std::size_t column = 0; column < table.column_names.size(); ++column) {
    const std::string& encoded = table.column_names[column];
    if (encoded.starts_with(name + "=")) values.emplace_back(column, encoded.substr(name.size() + 1));
  }
  return values;
}

void require_category(const data::Schema& schema, const std::string& name) {
  const auto is_it = [&](const data::Column& column) { return column.name == name; };
  const auto found = std::find_if(schema.columns.begin(), schema.columns.end(), is_it);
  if (found == schema.columns.end())
    throw InputError(fmt::format("--by: the model's schema has no column {}", in_quotes(name)));
  if (name == schema.label)
    throw InputError(fmt::format("--by: '{}' is the label; 'recall' tells its classes apart", name));
  if (found->type != data::ColumnType::category) {
    throw InputError(
        fmt::format("--by: expected a category that the model sees, but column '{}' is {}", name,
                    found->type == data::ColumnType::ignore ? "ignored by the schema" : "no category"));
  }
}

}  // namespace

bool gives_probabilities(const Model& model) {
  return model.loss == GlmLoss::logistic || model.loss == GlmLoss::softmax;
}

std::vector<double> two_class_scores(const Model& model, const data::Table& table) {
  require_sound(model);
  std::vector<double> z = outputs_of(model, rows_for(model, table));
  if (outputs(model) == 1) return z;
  std::vector<double> scores(z.size() / 2);
  for (std::size_t row = 0; row < scores.size(); ++row) scores[row] = z[2 * row + 1] - z[2 * row];
  return scores;
}

std::vector<GroupEvaluation> evaluate_by(const Model& model, const data::Table& table,
                                         const std::string& column) {
  require_category(model.schema, column);
  const auto values = values_of(table, column);
  std::vector<std::vector<std::size_t>> members(values.size() + 1);  // the last: none of the values
  for (std::size_t row = 0; row < table.rows.count(); ++row) {
    std::size_t group = values.size();
    table.rows.for_each_entry(row, [&](std::size_t encoded, double entry) {
      const std::size_t place = encoded - (values.empty() ? 0 : values.front().first);
      if (entry != 0 && place < values.size()) group = place;
    });
    members[group].push_back(row);
  }
  std::vector<GroupEvaluation> groups;
  for (std::size_t group = 0; group < members.size(); ++group) {
    if (members[group].empty()) continue;
    data::Table part{.rows = data::select_rows(std::span(&table.rows, 1), members[group]),
                     .column_names = table.column_names,
                     .classes = table.classes,
                     .left_out = 0};
    groups.push_back({.value = group < values.size() ? values[group].second : "(other)",
                      .found = evaluate_public(model, part)});
  }
  return groups;
}

std::vector<double> predict_rows(const Model& model, const std::shared_ptr<const Rows>& rows) {
  std::vector<double> predictions(rows->count());
  if (model.network.empty()) {
    predict_glm(*rows, glm_options(model), model.weights, predictions);
  } else {
    make_objective(model, rows, {}, Labels::unused)->predict(model.weights, predictions);
  }
  keep_within_bounds(model, predictions);
  return predictions;
}

Evaluation evaluate_rows(const Model& model, const std::shared_ptr<const Rows>& rows, std::size_t threads) {
  Evaluation out{.rows = rows->count()};
  const auto objective = make_objective(model, rows, {.threads = threads});
  out.loss = objective->mean_loss(model.weights);
  if (out.rows == 0) return out;
  std::vector<double> predictions(out.rows);
  objective->predict(model.weights, predictions);
  keep_within_bounds(model, predictions);
  if (model.classes > 0) {
    measure_classes(model, rows, predictions, out);
  } else {
    measure_numbers(predictions, rows->labels(), out);
  }
  return out;
}

}  // namespace ration
