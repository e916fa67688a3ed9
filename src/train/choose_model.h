#pragma once

#include <functional>
#include <optional>
#include <string>

#include "ration/data/schema.h"
#include "ration/train/plan.h"

namespace ration {

// Says what is public about the rows of a plan; nothing if it is not known.
using SchemaFinder = std::function<std::optional<data::Schema>(const Plan&)>;

// What model "auto" becomes, and why, by what is public about the rows.
struct ChosenModel {
  ModelName model;
  std::string why;
};

// Two classes: logistic; more: softmax; a number: squared. Images: softmax on their scattering transform,
// which at epsilon 3 was ahead of the networks that were tried (docs/results/e4.md) and is cheaper, else
// a small network, else softmax on pixels.
ChosenModel choose_model(const data::Schema& schema);

// The plan's own model, or the one that fits the schema.
ModelName model_for(const Plan& plan, const data::Schema& schema);

// What decides how a linear model is trained, beside the plan.
struct RowFacts {
  bool bags = false;  // of words
  bool bias = true;   // a column of ones
};

// Those of a table if the schema cannot be read, of which whoever reads the rows complains.
RowFacts facts_of_rows(const Plan& plan, const SchemaFinder& schema);

// What is known of a plan's rows without reading one: the schema that it names or that its data bring, with
// the plan's label; nothing if there is none.
std::optional<data::Schema> public_schema(const Plan& plan);

}  // namespace ration
