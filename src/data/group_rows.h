#pragma once

#include <cstddef>

#include "ration/base/random.h"
#include "ration/data/rows.h"
#include "ration/data/table.h"
#include "ration/data/units.h"

namespace ration::data {

// A table whose rows follow each other unit by unit, in the order in which units first appear.
struct GroupedRows {
  Rows rows;
  Units units;
};

// Of a unit with more than `rows_per_unit` rows, so many are drawn, every set of them alike; the others are
// left out. Which rows of a unit stay depends on that unit and on `random` alone, so neighbours that differ
// by a unit with any number of rows are still neighbours that differ by a unit. InputError if the table was
// read without units.
GroupedRows group_by_unit(Table table, std::size_t rows_per_unit, RandomSource& random);

}  // namespace ration::data
