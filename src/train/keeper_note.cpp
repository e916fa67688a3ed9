#include "train/keeper_note.h"

#include <fmt/format.h>

namespace ration {

std::string for_the_keeper(const std::string& complaint, const std::optional<LedgerEntry>& entry,
                           SchemaIs schema) {
  const std::string cost =
      entry ? fmt::format(
                  "\nThe rows were read, so the reserved budget stays spent (run {} of {}); the keeper "
                  "can look for bad rows first, without --ledger.",
                  entry->run, entry->file)
            : "";
  return fmt::format(
      "{}\nNOT PRIVATE: what stands above may quote rows; it is for the keeper of the data alone. To go on "
      "whatever the rows hold, use --on-bad-row clamp or drop: rows that break the schema are then lost or "
      "bent "
      "silently; {}.{}",
      complaint,
      schema == SchemaIs::fixed ? "the model's schema is fixed, so if many do, mend the rows"
                                : "if many do, mend the schema",
      cost);
}

}  // namespace ration
