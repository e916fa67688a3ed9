#pragma once

#include "ration/data/schema.h"
#include "ration/train/plan.h"

namespace ration {

// What a plan says of the unit of privacy (data/units.h) beside its schema.

// A plan that names no unit takes the one of its schema, where there is such a file. With a unit, units are
// what is counted: `rows`, what divisors, rates and warnings go by, becomes their declared number. InputError
// if a part is missing, or is given without a unit.
void settle_unit(Plan& plan);
// The same for a schema in memory.
void take_unit(const data::Schema& schema, Plan& plan);

// InputError, which says what works, if the plan has a unit, and its method's proof is by the row or its
// model has no unit form yet.
void require_unit_form(const Plan& plan);

// InputError if bad rows are left out under replace_one: a row that does not say whose it is vanishes, and
// its unit with it if that was its only row, so that neighbours would have different numbers of units.
void require_lasting_units(const Plan& plan, Relation relation);

// The schema with the plan's unit, whose column is never a feature.
data::Schema with_unit(const Plan& plan, data::Schema schema);

}  // namespace ration
