#include "train/keeper_note.h"

#include <fmt/format.h>

namespace ration {
namespace {

std::string advice(Mend mend) {
  if (mend == Mend::what_it_says) return "";
  return fmt::format(
      " To go on whatever the rows hold, use --on-bad-row clamp or drop: rows that break the schema are then "
      "lost or bent silently; {}.",
      mend == Mend::rows ? "the model's schema is fixed, so if many do, mend the rows"
                         : "if many do, mend the schema");
}

std::string cost(const std::optional<LedgerEntry>& entry, Mend mend) {
  if (!entry) return "";
  return fmt::format(
      "\nThe rows were read, so the reserved budget stays spent (run {} of {}){}.", entry->run, entry->file,
      mend == Mend::what_it_says ? "" : "; the keeper can look for bad rows first, without --ledger");
}

}  // namespace

std::string for_the_keeper(const std::string& complaint, const std::optional<LedgerEntry>& entry, Mend mend) {
  return fmt::format(
      "{}\nNOT PRIVATE: what stands above may quote rows; it is for the keeper of the data alone.{}{}",
      complaint, advice(mend), cost(entry, mend));
}

}  // namespace ration
