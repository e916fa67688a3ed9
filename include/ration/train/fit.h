#pragma once

#include "ration/base/random.h"
#include "ration/data/table.h"
#include "ration/privacy/certificate.h"
#include "ration/train/model.h"
#include "ration/train/plan.h"
#include "ration/train/resolve.h"

namespace ration {

struct Fitted {
  Model model;
  Certificate certificate;
  ResolvedPlan plan;
};

// Trains on a table in memory by a plan and writes nothing: for programs that keep rows and results themselves. The plan's
// `data` and `schema` do not count; `schema` here describes the table. No ledger, no checkpoint: use train() of
// train/run.h for those. Throws like it.
Fitted fit(const Plan& plan, const data::Schema& schema, data::Table table, RandomSource& random);
Fitted fit(const Plan& plan, const data::Schema& schema, data::Table table);

}  // namespace ration
