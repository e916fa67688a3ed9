#include "train/keeper_note.h"

#include <fmt/format.h>

namespace ration {

std::string for_the_keeper(const std::string& complaint, const std::optional<LedgerEntry>& entry) {
  const std::string cost =
      entry ? fmt::format(
                  "\nThe rows were read, so the reserved budget stays spent (run {} of {}); the keeper "
                  "can look for bad rows first, without --ledger.",
                  entry->run, entry->file)
            : "";
  return fmt::format(
      "{}\nNOT PRIVATE: what stands above may quote rows; it is for the keeper of the data alone. To go on "
      "whatever the rows hold, use --on-bad-row clamp or drop.{}",
      complaint, cost);
}

}  // namespace ration
