#include "train/unit_of_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/check.h"
#include "base/quote.h"
#include "data/find_schema.h"
#include "ration/base/error.h"
#include "train/method_plan.h"

namespace ration {
namespace {

[[noreturn]] void refuse(const std::string& message) {
  throw InputError("plan: " + message);
}

std::string names_of_methods_with_units() {
  std::string names;
  for (const Recipe& recipe : recipes()) {
    if (recipe.units != UnitForm::none)
      names += fmt::format("{}{}", names.empty() ? "" : ", ", to_string(recipe.method));
  }
  return names;
}

// What a plan without a unit must not say, and one with a unit must.
void require_whole(Plan& plan) {
  if (plan.unit.empty()) {
    if (plan.rows_per_unit) refuse("rows_per_unit needs unit: the column that says whose a row is");
    if (plan.units) refuse("units needs unit: the column that says whose a row is; or declare rows");
    return;
  }
  if (!plan.rows_per_unit)
    refuse(
        fmt::format("rows_per_unit is needed with unit: how many rows of one {} are used at most, such as 8; "
                    "the others are left out at random",
                    plan.unit));
  if (*plan.rows_per_unit > static_cast<std::int64_t>(data::kMostRowsPerUnit))
    refuse(fmt::format("expected rows_per_unit <= {}, got {}", data::kMostRowsPerUnit, *plan.rows_per_unit));
  if (plan.rows && plan.rows != plan.units)
    refuse(fmt::format(
        "rows = {}: with unit = {} what counts is the number of units; declare units in place of rows",
        show(*plan.rows), in_quotes(plan.unit)));
  plan.rows = plan.units;
}

}  // namespace

void take_unit(const data::Schema& schema, Plan& plan) {
  if (schema.unit.empty()) return;
  if (!plan.unit.empty() && plan.unit != schema.unit)
    refuse(fmt::format("unit = {}, but the schema says that rows belong to {}; name one of them",
                       in_quotes(plan.unit), in_quotes(schema.unit)));
  plan.unit = schema.unit;
  if (!plan.rows_per_unit) plan.rows_per_unit = static_cast<std::int64_t>(schema.rows_per_unit);
}

void settle_unit(Plan& plan) {
  const std::string file =
      plan.schema.empty() ? data::find_schema(plan.data).value_or(std::string()) : plan.schema;
  if (!file.empty() && std::filesystem::is_regular_file(file)) take_unit(data::read_schema(file), plan);
  require_whole(plan);
}

void require_unit_form(const Plan& plan) {
  if (plan.unit.empty()) return;
  if (plan.model.is_network())
    refuse(fmt::format(
        "unit = {}: {} is a network, whose rows are clipped one by one, which would protect a row; "
        "use a linear model, or leave unit out and see what the certificate says of several rows",
        in_quotes(plan.unit), plan.model.name()));
  if (recipe_of(plan.method).units == UnitForm::none)
    refuse(
        fmt::format("unit = {}: method {} is proven for rows, not for units of several rows; use one of {}",
                    in_quotes(plan.unit), plan.method.name(), names_of_methods_with_units()));
  if (plan.center == Centering::yes)
    refuse(
        fmt::format("unit = {}: center asks for the mean of rows, which has no form for units; use method "
                    "auto, which centres by itself, or leave center out",
                    in_quotes(plan.unit)));
}

void require_lasting_units(const Plan& plan, Relation relation) {
  if (plan.unit.empty() || relation != Relation::replace_one || plan.on_bad_row == data::OnBadRow::refuse)
    return;
  refuse(fmt::format(
      "on_bad_row = {}: under replace_one the number of units is public, and a row that is left out "
      "may have been the only one of its {}; use on_bad_row = refuse, or relation add_remove",
      plan.on_bad_row.name(), plan.unit));
}

data::Schema with_unit(const Plan& plan, data::Schema schema) {
  if (plan.unit.empty()) return schema;
  schema.unit = plan.unit;
  if (plan.rows_per_unit) schema.rows_per_unit = static_cast<std::size_t>(*plan.rows_per_unit);
  for (data::Column& column : schema.columns) {
    if (column.name != plan.unit || column.name == schema.label) continue;
    data::Column ignored;
    ignored.name = column.name;
    column = std::move(ignored);
  }
  return schema;
}

}  // namespace ration
