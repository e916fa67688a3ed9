#pragma once

#include <span>
#include <vector>

#include "ration/data/rows.h"

namespace ration::data {

// Some rows, in the given order, of several tables that are counted through one after the other: row 0 is the
// first of the first table. Dense if all tables are. Throws InputError for a row that does not exist, tables
// of different width, or none.
Rows select_rows(std::span<const Rows> tables, std::span<const std::size_t> which);

}  // namespace ration::data
