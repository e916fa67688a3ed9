// Stable: changes only with a new major version.
#pragma once

#include "ration/base/error.h"
#include "ration/base/names.h"

namespace ration::data {

// What happens to a row that breaks the schema, where the schema itself does not say (out_of_bounds, fill,
// unknown_category, ...). Each is a public function of one row, so that neighbours stay neighbours; only
// `refuse` answers a question about the rows, to whoever sees the refusal.
//
// clamp       a number goes to the nearest bound, a label among them. A cell that cannot be read, that is
//             missing, or that is none of the categories encodes as zeros: no category, no interval of
//             `cuts`, and of a scaled number its lower bound, where its hats are 0, too. What nothing can
//             stand in for is dropped: a class that is none of the label's, a number that is no number in the
//             label, a line with too few or too many fields.
// drop        the row contributes nothing to any sum. It still counts as a row, so that a public number of
//             rows stays what it is, and samples are drawn as if it were there.
enum class OnBadRow { refuse, clamp, drop };

// Their names.
inline constexpr NamedValue<OnBadRow> kOnBadRows[] = {
    {OnBadRow::refuse, "refuse",
     "The run is refused. The message quotes rows, and with a ledger the run's budget stays spent."},
    {OnBadRow::clamp, "clamp",
     "Numbers go to the nearest bound; cells that cannot be read count as zeros; a bad class drops the row."},
    {OnBadRow::drop, "drop", "The row contributes nothing. It still counts as a row."},
};
// Found by base/names.h.
constexpr NameTable<OnBadRow> name_table(OnBadRow) {
  return {"on_bad_row", kOnBadRows};
}

// Rows break the schema. The message has a line for each of the first complaints and quotes what the rows
// hold: it is NOT PRIVATE, and for the keeper of the data alone.
class BadRows : public InputError {
 public:
  using InputError::InputError;
};

// There are far more rows than were declared. That is an answer about the rows, too, where their number is
// private.
class TooManyRows : public BadRows {
 public:
  using BadRows::BadRows;
};

// A file does not fit the schema or the plan as a whole: by its header, its shape, its public number of rows.
// No row had a say in it, so that it tells nothing about one.
class PublicFault : public InputError {
 public:
  using InputError::InputError;
};

}  // namespace ration::data
