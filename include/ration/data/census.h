// Stable: changes only with a new major version.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>

#include "ration/data/table.h"

namespace ration::data {

// A made-up census: people with age, sex, schooling, work, hours, marital status, capital income, and whether
// they earn much. For demo and tests. It describes nobody, so it is public, and so is everything derived from
// it.
//
// Structure   the label is drawn from a logistic model of the other columns with two interactions a linear
//             model cannot see; about 76 % earn little, and a logistic model gets about 85 % right.
// Guarantee   the same seed gives the same table on every machine, and row i does not depend on the number of
//             rows.
Schema census_schema();
// So many people, drawn from the seed.
Table census_table(std::size_t rows, std::uint64_t seed);
// The same table as CSV, which census_schema() reads back.
void write_census(std::ostream& out, std::size_t rows, std::uint64_t seed);

}  // namespace ration::data
