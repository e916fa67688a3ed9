#pragma once

#include "ration/data/rows.h"
#include "ration/data/schema.h"

namespace ration::data {

// The same rows with the hats of knots that `after` has and `before` has not: what reading them by `after`
// would give, up to storage, since hats are functions of the scaled number. Schemas that differ in knots
// alone; InputError if the rows are not encoded by `before`.
Rows add_hats(const Rows& rows, const Schema& before, const Schema& after);

}  // namespace ration::data
