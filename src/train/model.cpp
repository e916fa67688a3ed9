#include "ration/train/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <span>
#include <utility>

#include "base/check.h"
#include "data/add_hats.h"
#include "ration/base/error.h"
#include "train/model_objective.h"
#include "train/model_shape.h"

namespace ration {
namespace {

[[noreturn]] void refuse(const std::string& message) {
  throw InputError("model: " + message);
}

std::shared_ptr<const Rows> borrowed(const Rows& rows) {
  return {std::shared_ptr<void>(), &rows};
}

data::Schema without_knots(data::Schema schema) {
  for (data::Column& column : schema.columns) column.knots.clear();
  return schema;
}

// As the model sees them: a table that was read before a fit put knots into the schema gets its hats here.
std::shared_ptr<const Rows> rows_for(const Model& model, const data::Table& table) {
  if (table.column_names == data::encoded_column_names(model.schema)) return borrowed(table.rows);
  const data::Schema before = without_knots(model.schema);
  if (table.column_names == data::encoded_column_names(before)) {
    return std::make_shared<const Rows>(data::add_hats(table.rows, before, model.schema));
  }
  refuse("the table's columns are not those of the model; read it with the model's schema");
}

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

double root_mean_square(std::span<const double> a, std::span<const double> b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return std::sqrt(sum / static_cast<double>(a.size()));
}

}  // namespace

GlmOptions glm_options(const Model& model, std::size_t threads) {
  return {.loss = model.loss,
          .classes = std::max<std::size_t>(model.classes, 2),
          .huber_width = model.huber_width,
          .threads = threads};
}

NetworkSpec network_spec(const Model& model) {
  const data::Schema& schema = model.schema;
  NetworkSpec spec{.name = model.network, .input = {}, .classes = model.classes};
  if (schema.image) {
    spec.input = {schema.image->channels, schema.image->height, schema.image->width};
  } else if (schema.text) {
    spec.input = {schema.text->length};
    spec.ids_below = schema.text->vocabulary;
  } else {
    spec.input = {data::encoded_column_names(schema).size()};
  }
  return spec;
}

std::unique_ptr<Objective> make_objective(const Model& model, std::shared_ptr<const Rows> rows,
                                          const Hardware& hardware, Labels labels) {
  if (!model.network.empty()) {
    return networks().objective(network_spec(model), std::move(rows), hardware, labels == Labels::used);
  }
  return make_glm(std::move(rows), glm_options(model, hardware.threads));
}

void require_device(const Model& model, const std::string& device) {
  if (device == Hardware{}.device) return;
  if (!model.network.empty()) return networks().require_device(device);
  throw InputError(fmt::format(
      "device: '{}' is for neural networks; a linear model is computed by the processor: leave it out",
      device));
}

std::size_t parameters(const Model& model) {
  if (!model.network.empty()) return networks().parameters(network_spec(model));
  return outputs(model) * data::encoded_column_names(model.schema).size();
}

std::size_t outputs(const Model& model) {
  return model.loss == GlmLoss::softmax ? model.classes : 1;
}

std::optional<std::string> shape_fault(const Model& model) {
  const std::size_t classes = model.schema.classes();
  const std::string_view loss = to_string(model.loss);
  const std::string& label = model.schema.label;
  if (model.classes != classes)
    return fmt::format("expected 'classes' to be {} as in the schema, got {}", classes, model.classes);
  if (!greater_than(0).contains(model.huber_width))
    return fmt::format("expected 'huber_width' > 0, got {}", model.huber_width);
  if (!model.network.empty() && (classes == 0 || model.loss != GlmLoss::softmax))
    return fmt::format("network '{}' needs a label with classes, and loss softmax", model.network);
  if (model.loss == GlmLoss::squared && classes > 0)
    return fmt::format("loss '{}' needs a numeric label, but '{}' has {} classes", loss, label, classes);
  if (model.loss != GlmLoss::squared && classes == 0)
    return fmt::format(
        "loss '{}' needs classes, but label '{}' is a number; use model squared, or describe the label as a "
        "category, or split it in two with above = X in the schema",
        loss, label);
  if (model.loss != GlmLoss::squared && model.loss != GlmLoss::softmax && classes > 2)
    return fmt::format("loss '{}' needs two classes, but '{}' has {}; use softmax", loss, label, classes);
  return std::nullopt;
}

void require_sound(const Model& model) {
  data::require_sound(model.schema);
  if (const auto fault = shape_fault(model)) refuse(*fault);
  const std::size_t expected = parameters(model);
  if (model.weights.size() != expected)
    refuse(fmt::format("expected {} weights, got {}", expected, model.weights.size()));
  for (std::size_t i = 0; i < expected; ++i) {
    if (!std::isfinite(model.weights[i]))
      refuse(fmt::format("expected finite weights, got {} in place {}", model.weights[i], i));
  }
}

std::vector<double> predict(const Model& model, const data::Table& table) {
  require_sound(model);
  const auto rows = rows_for(model, table);
  std::vector<double> predictions(rows->count());
  if (model.network.empty()) {
    predict_glm(*rows, glm_options(model), model.weights, predictions);
  } else {
    make_objective(model, rows, {}, Labels::unused)->predict(model.weights, predictions);
  }
  keep_within_bounds(model, predictions);
  return predictions;
}

Evaluation evaluate_public(const Model& model, const data::Table& table) {
  const std::vector<double> predictions = predict(model, table);
  Evaluation out{.rows = table.rows.count(),
                 .loss = make_objective(model, rows_for(model, table))->mean_loss(model.weights),
                 .accuracy = {},
                 .root_mean_square_error = {},
                 .majority = {},
                 .recall = {}};
  if (out.rows == 0) return out;
  if (model.classes > 0) {
    out.accuracy = share_of_equal(predictions, table.rows.labels());
    tell_classes(predictions, table.rows.labels(), model.classes, out);
  } else {
    out.root_mean_square_error = root_mean_square(predictions, table.rows.labels());
  }
  return out;
}

}  // namespace ration
