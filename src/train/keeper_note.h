#pragma once

#include <optional>
#include <string>

#include "ration/privacy/certificate.h"

namespace ration {

// A complaint that was raised after rows were read, with whom it is for and what it cost. A refusal is an
// answer about the rows: whoever writes schemas could search for a column's largest value by being refused.
// So it is not private, and a run in a ledger stays paid for. The schema of a trained model cannot be mended.
enum class SchemaIs { open, fixed };
std::string for_the_keeper(const std::string& complaint, const std::optional<LedgerEntry>& entry,
                           SchemaIs schema = SchemaIs::open);

}  // namespace ration
