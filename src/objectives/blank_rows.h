#pragma once

#include <cstddef>
#include <memory>

#include "ration/objectives/objective.h"

namespace ration {

// The same objective with `blank` rows more, after its own, that contribute nothing to any sum or count: rows
// of the file that broke the schema and were dropped (data/bad_rows.h).
//
// Why         who draws rows, counts them or cuts them into batches must not see whether a row was dropped.
//             A row that becomes bad is a row that is replaced, by one whose contribution is 0; that is
//             within every bound of clipping/sensitivity.h, and the number of rows stays what it is.
std::unique_ptr<Objective> with_blank_rows(std::unique_ptr<Objective> objective, std::size_t blank);

}  // namespace ration
