#include "ration/train/fit.h"

#include <memory>
#include <utility>

#include "ration/base/error.h"
#include "ration/train/training.h"
#include "train/label_unit.h"
#include "train/run_certificate.h"

namespace ration {

Fitted fit(const Plan& plan, const data::Schema& schema, data::Table table, RandomSource& random) {
  if (!plan.ledger.empty()) throw InputError("fit: a table in memory has no place in a ledger; use train()");
  Fitted out{.model = untrained_model(plan, schema), .certificate = {}, .plan = resolve(plan)};
  require_sound(out.model);
  if (table.column_names != data::encoded_column_names(schema)) {
    throw InputError("fit: the table's columns are not those of the schema");
  }
  const LabelUnit unit(out.model);
  Training training(out.plan, std::make_shared<const Rows>(unit.scaled(std::move(table.rows))),
                    glm_options(out.model), random);
  while (training.step()) {
  }
  if (out.plan.fixed() != nullptr && training.charged() != training.total()) {
    throw InternalError("fit: a step of the plan was refused");
  }
  out.model.weights = training.weights();
  unit.restore(out.model.weights);
  out.certificate = certify_training(out.plan, training, {"", random.is_secure()});
  return out;
}

Fitted fit(const Plan& plan, const data::Schema& schema, data::Table table) {
  return fit(plan, schema, std::move(table), SecureRandom::for_this_thread());
}

}  // namespace ration
