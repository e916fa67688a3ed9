#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ration/privacy/certificate.h"
#include "train/training.h"

namespace ration {

// The run's place in a ledger, and what proves that the checkpoint is the newest one (privacy/ledger.h,
// "Resuming").
struct HeldReservation {
  LedgerEntry entry;
  std::vector<std::string> tokens;
};

// A run that can go on after the process ended. Holds nothing that is not private already, and nothing of the
// noise: a resumed run draws its own.
struct Checkpoint {
  std::string plan_hash;  // of plan.toml and schema.toml: a run goes on as it began
  std::string data_hash;  // under the key of the seal, so that it says nothing to others; empty without one
  // Where the run found its rows and its ledger: the plan in the run's folder names no absolute path. Empty
  // in checkpoints of ration 0.2, whose plan does.
  std::string data_place;
  std::string ledger_place;
  bool secure_random = true;  // false once any part of the run was NOT PRIVATE
  bool count_asked = false;   // number and mean of the rows are paid for, though the answer may be lost
  bool at_work = false;       // a method that chooses as it goes was going: what it spent since is not known
  TrainingState training;
  std::optional<HeldReservation> ledger;
};

// Whose key the seal of a checkpoint needs: that of the run's ledger, or of whoever runs the program
// (base/user_key.h). Gives a mark for a text that nobody makes without the key; empty if there is no key.
using Sealer = std::function<std::string(std::string_view text)>;

// Lossless, with a seal over all the rest. InputError, naming `file` and the key, for what is not a
// checkpoint of this version.
std::string to_json(const Checkpoint& checkpoint, const Sealer& seal);
// Does not look at the seal.
Checkpoint checkpoint_from_json(std::string_view text, const std::string& file);

// A checkpoint as it was found: bytes that were read once. Its values are trusted only if those very bytes
// are as they were sealed: a checkpoint says what is spent, and one that was changed by hand could say less.
class StoredCheckpoint {
 public:
  // `file` is for messages.
  StoredCheckpoint(std::string bytes, std::string file);

  // What nobody vouches for yet: where to look for the key. InputError for what is not a checkpoint.
  Checkpoint unproven() const { return checkpoint_from_json(bytes_, file_); }
  // InputError unless the seal holds.
  Checkpoint open(const Sealer& seal) const;

 private:
  std::string bytes_;
  std::string file_;
};

}  // namespace ration
