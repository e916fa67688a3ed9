#include "ration/train/fit.h"

#include <memory>
#include <utility>

#include "ration/base/error.h"
#include "train/run_certificate.h"
#include "train/training.h"

namespace ration {
namespace {

void tell(const std::vector<Observer*>& observers, const Training& training) {
  if (observers.empty()) return;
  const Progress progress = training.progress();
  for (Observer* const observer : observers) observer->on_step(progress);
}

}  // namespace

Fitted fit(const ResolvedPlan& plan, const data::Schema& schema, std::shared_ptr<const Rows> rows,
           RandomSource& random, const FitOptions& options) {
  if (!plan.plan.ledger.empty())
    throw InputError("fit: a table in memory has no place in a ledger; use train()");
  Fitted out{
      .model = untrained_model(plan.plan, fitted_to(plan.plan, schema)), .certificate = {}, .plan = plan};
  require_sound(out.model);
  RowTransform transform(std::move(rows), options.left_out);
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
  out.model.noise = training.weight_noise();
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
  return fit(resolve(plan, schema), schema, std::make_shared<const Rows>(std::move(table.rows)), random,
             {.left_out = table.left_out});
}

Fitted fit(const Plan& plan, const data::Schema& schema, data::Table table) {
  return fit(plan, schema, std::move(table), SecureRandom::for_this_thread());
}

}  // namespace ration
