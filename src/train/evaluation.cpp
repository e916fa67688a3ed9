#include "train/evaluation.h"

#include <algorithm>
#include <span>
#include <vector>

#include "metrics/ranking.h"
#include "metrics/regression.h"
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

// The share of the most frequent class, and each one's recall.
void tell_classes(std::span<const double> predictions, std::span<const double> labels, std::size_t classes,
                  Evaluation& out) {
  std::vector<double> rows(classes), right(classes);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const auto label = static_cast<std::size_t>(labels[i]);
    ++rows[label];
    right[label] += predictions[i] == labels[i] ? 1 : 0;
  }
  out.majority = *std::max_element(rows.begin(), rows.end()) / static_cast<double>(labels.size());
  for (std::size_t c = 0; c < classes; ++c)
    out.recall.push_back(rows[c] > 0 ? std::optional(right[c] / rows[c]) : std::nullopt);
}

// Outputs may be of any scale, for they are ranked.
std::optional<double> auc_of(const Model& model, const Rows& rows) {
  if (!model.network.empty()) return std::nullopt;
  const GlmOptions options = glm_options(model);
  std::vector<double> scores(rows.count() * outputs(model));
  outputs_glm(rows, options, model.weights, scores);
  if (outputs(model) == 1) return area_under_roc(scores, rows.labels(), 1);
  return mean_area_under_roc(log_odds(scores, model.classes), rows.labels(), model.classes);
}

bool gives_probabilities(const Model& model) {
  return model.loss == GlmLoss::logistic || model.loss == GlmLoss::softmax;
}

void measure_classes(const Model& model, const Rows& rows, std::span<const double> predictions,
                     Evaluation& out) {
  out.accuracy = share_of_equal(predictions, rows.labels());
  tell_classes(predictions, rows.labels(), model.classes, out);
  out.auc = auc_of(model, rows);
  if (gives_probabilities(model)) out.log_loss = out.loss;
}

void measure_numbers(std::span<const double> predictions, std::span<const double> labels, Evaluation& out) {
  out.root_mean_square_error = root_mean_square_error(predictions, labels);
  out.mean_absolute_error = mean_absolute_error(predictions, labels);
  out.r2 = r_squared(predictions, labels);
}

}  // namespace

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
    measure_classes(model, *rows, predictions, out);
  } else {
    measure_numbers(predictions, rows->labels(), out);
  }
  return out;
}

}  // namespace ration
