#pragma once

#include <optional>
#include <string>

#include "ration/privacy/certificate.h"

namespace ration {

// A complaint that was raised after rows were read, with whom it is for and what it cost. A refusal is an
// answer about the rows: whoever writes schemas could search for a column's largest value by being refused.
// So it is not private, and a run in a ledger stays paid for.

// What would do beside --on-bad-row. The schema of a trained model cannot be mended; that there are too many
// rows is no fault of any row, and the complaint itself says what to do.
enum class Mend { schema, rows, what_it_says };
std::string for_the_keeper(const std::string& complaint, const std::optional<LedgerEntry>& entry,
                           Mend mend = Mend::schema);

}  // namespace ration
