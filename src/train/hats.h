#pragma once

#include "ration/data/schema.h"
#include "ration/train/plan.h"

namespace ration {

// The schema with knots (data/knots.h) where a plan's features say so: a linear model then bends at them. By
// public facts alone.
//
// Which     numbers whose bounds are more than 1 apart and that have no cuts or knots already; 0 and 1 would
//           gain nothing. None of rows that are kept short, whose norms the hats would change.
// How many  each hat is one more direction for the noise. hats: fine knots if there are at most .11 of them
//           for each unit of rows times mu, else coarse ones. auto, of method auto: the same, but coarse ones
//           by the same measure too, else none, and none if rows or budget are not said; of other methods,
//           none. Measured on four public tables cut to 3,000 to 30,000 rows: up to a tenth they pay or cost
//           nothing, above a fifth they cost.
data::Schema with_hats(const Plan& plan, data::Schema schema);

}  // namespace ration
