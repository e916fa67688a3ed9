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
#include "train/evaluation.h"
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
                                          const Hardware& hardware, Labels labels,
                                          std::shared_ptr<const Units> units) {
  if (!model.network.empty()) {
    if (units) throw InputError("units: a network has no unit form");
    return networks().objective(network_spec(model), std::move(rows), hardware, labels == Labels::used);
  }
  GlmOptions options = glm_options(model, hardware.threads);
  options.units = std::move(units);
  return make_glm(std::move(rows), options);
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

std::optional<std::string> noise_fault(const Model& model) {
  if (!model.noise) return std::nullopt;
  const WeightNoise& noise = *model.noise;
  const std::size_t count = outputs(model);
  const std::size_t covariances = noise.directions * (count * (count + 1) / 2);
  const std::size_t columns = parameters(model) / count;
  if (!model.network.empty()) return "noise: only that of linear models is known";
  if (noise.centre.size() != parameters(model))
    return fmt::format("noise: expected {} numbers for 'centre', got {}", parameters(model),
                       noise.centre.size());
  if (noise.directions == 0 || noise.factor.size() != noise.directions * columns)
    return fmt::format("noise: expected {} numbers for each of at least one row of 'factor'", columns);
  if (noise.covariance.size() != covariances)
    return fmt::format("noise: expected {} numbers for 'covariance', got {}", covariances,
                       noise.covariance.size());
  for (const auto* const part : {&noise.centre, &noise.factor, &noise.covariance}) {
    for (const double value : *part) {
      if (!std::isfinite(value)) return fmt::format("noise: expected finite numbers, got {}", value);
    }
  }
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
  if (const auto fault = noise_fault(model)) refuse(*fault);
}

std::shared_ptr<const Rows> rows_for(const Model& model, const data::Table& table) {
  if (table.column_names == data::encoded_column_names(model.schema)) return borrowed(table.rows);
  const data::Schema before = without_knots(model.schema);
  if (table.column_names == data::encoded_column_names(before)) {
    return std::make_shared<const Rows>(data::add_hats(table.rows, before, model.schema));
  }
  refuse("the table's columns are not those of the model; read it with the model's schema");
}

std::vector<double> predict(const Model& model, const data::Table& table) {
  require_sound(model);
  return predict_rows(model, rows_for(model, table));
}

Evaluation evaluate_public(const Model& model, const data::Table& table) {
  require_sound(model);
  return evaluate_rows(model, rows_for(model, table));
}

}  // namespace ration
