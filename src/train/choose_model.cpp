#include "train/choose_model.h"

#include <fmt/format.h>

#include "data/named_data.h"
#include "ration/base/error.h"
#include "ration/objectives/network.h"

namespace ration {
namespace {

constexpr const char* kSmallNetwork = "cnn:papernot";
constexpr std::size_t kSmallestForNetwork = 16;

bool can_be_scattered(data::Schema schema) {
  schema.image->features = data::ImageFeatures::scatter;
  return !data::find_fault(schema);
}

bool has_networks() {
  try {
    return !network_names().empty();
  } catch (const InputError&) {
    return false;  // their library is not there
  }
}

ChosenModel choose_for_images(const data::Schema& schema) {
  const data::ImageShape& image = *schema.image;
  const std::string size = fmt::format("{} x {} pixels", image.height, image.width);
  if (can_be_scattered(schema)) return {"scatter+softmax", fmt::format("rows are images of {}", size)};
  const bool large = image.height >= kSmallestForNetwork && image.width >= kSmallestForNetwork;
  if (large && has_networks())
    return {kSmallNetwork, fmt::format("rows are images of {}, which cannot be scattered", size)};
  return {GlmLoss::softmax, fmt::format("rows are images of {}, too small to scatter", size)};
}

}  // namespace

ChosenModel choose_model(const data::Schema& schema) {
  if (schema.image) return choose_for_images(schema);
  const std::size_t classes = schema.classes();
  if (classes == 0) return {GlmLoss::squared, fmt::format("label '{}' is a number", schema.label)};
  const std::string why = fmt::format("label '{}' has {} classes", schema.label, classes);
  return {classes <= 2 ? GlmLoss::logistic : GlmLoss::softmax, why};
}

ModelName model_for(const Plan& plan, const data::Schema& schema) {
  return plan.model.is_auto() ? choose_model(schema).model : plan.model;
}

RowFacts facts_of_rows(const Plan& plan, const SchemaFinder& schema) {
  if (plan.model.is_network()) return {};
  try {
    const auto found = schema(plan);
    if (!found) return {};
    return {.bags = found->text && found->text->features == data::TextFeatures::bag, .bias = found->bias};
  } catch (const InputError&) {
    return {};
  }
}

std::optional<data::Schema> public_schema(const Plan& plan) {
  std::optional<data::Schema> schema =
      plan.schema.empty() ? data::schema_of_data(plan.data) : data::read_schema(plan.schema);
  if (schema && !plan.target.empty()) schema->label = plan.target;
  return schema;
}

}  // namespace ration
