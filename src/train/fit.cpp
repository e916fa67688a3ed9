#include "ration/train/fit.h"

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "base/quote.h"
#include "data/group_rows.h"
#include "ration/base/error.h"
#include "ration/data/units.h"
#include "train/run_certificate.h"
#include "train/training.h"
#include "train/unit_of_plan.h"

namespace ration {
namespace {

void tell(const std::vector<Observer*>& observers, const Training& training) {
  if (observers.empty()) return;
  const Progress progress = training.progress();
  for (Observer* const observer : observers) observer->on_step(progress);
}

void require_units(const Plan& plan, const data::Schema& schema, const FitOptions& options) {
  if (plan.unit.empty() && !schema.unit.empty())
    throw InputError(
        fmt::format("unit = {}: the schema names a unit, but this trains row by row, which would "
                    "protect a row; leave unit and rows_per_unit out of the schema if that is meant",
                    in_quotes(schema.unit)));
  if (!plan.unit.empty() && !options.units)
    throw InputError(
        fmt::format("fit: the plan protects {}, but nothing says which rows belong together; read "
                    "the table with ReadOptions::units, or leave unit out of plan and schema",
                    in_quotes(plan.unit)));
  if (plan.unit.empty() && options.units)
    throw InputError("fit: rows belong together, but the plan names no unit");
  if (options.units && options.units->most_rows() > static_cast<std::size_t>(*plan.rows_per_unit))
    throw InputError(fmt::format("fit: expected at most {} rows of a unit, got more", *plan.rows_per_unit));
}

}  // namespace

Fitted fit(const ResolvedPlan& plan, const data::Schema& schema, std::shared_ptr<const Rows> rows,
           RandomSource& random, const FitOptions& options) {
  if (!plan.plan.ledger.empty())
    throw InputError("fit: a table in memory has no place in a ledger; use train()");
  Fitted out{
      .model = untrained_model(plan.plan, fitted_to(plan.plan, schema)), .certificate = {}, .plan = plan};
  require_sound(out.model);
  require_units(plan.plan, schema, options);
  RowTransform transform = options.units ? RowTransform(std::move(rows), options.units)
                                         : RowTransform(std::move(rows), options.left_out);
  transform.add(hats_stage(schema, out.model.schema));
  if (transform.rows().columns() != data::encoded_column_names(out.model.schema).size()) {
    throw InputError("fit: the table's columns are not those of the schema");
  }
  Training training(out.plan, out.model, std::move(transform), random, {}, {.threads = options.threads});
  if (options.releases != nullptr) training.watch(*options.releases);
  while (training.step()) tell(options.observers, training);
  if (out.plan.fixed() != nullptr && training.steps_left() > 0) {
    throw InternalError("fit: a step of the plan was refused");
  }
  out.model.weights = training.weights();
  if (options.error_bars) out.model.noise = training.weight_noise();
  if (options.certificate) {
    out.certificate = certify_training(out.plan, training, {"", random.is_secure()});
  }
  return out;
}

Fitted fit(const Plan& plan, const data::Schema& schema, data::Table table, RandomSource& random) {
  require_sound(untrained_model(plan, schema));
  if (table.column_names != data::encoded_column_names(schema)) {
    throw InputError("fit: the table's columns are not those of the schema");
  }
  Plan with_its_unit = plan;
  take_unit(schema, with_its_unit);
  const ResolvedPlan resolved = resolve(with_its_unit, schema);
  if (resolved.plan.unit.empty())
    return fit(resolved, schema, std::make_shared<const Rows>(std::move(table.rows)), random,
               {.left_out = table.left_out});
  data::GroupedRows grouped =
      data::group_by_unit(std::move(table), static_cast<std::size_t>(*resolved.plan.rows_per_unit), random);
  return fit(resolved, schema, std::make_shared<const Rows>(std::move(grouped.rows)), random,
             {.units = std::make_shared<const Units>(std::move(grouped.units))});
}

Fitted fit(const Plan& plan, const data::Schema& schema, data::Table table) {
  return fit(plan, schema, std::move(table), SecureRandom::for_this_thread());
}

}  // namespace ration
