#pragma once

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
  std::string data_hash;
  bool secure_random = true;  // false once any part of the run was NOT PRIVATE
  bool count_asked = false;   // number and mean of the rows are paid for, though the answer may be lost
  bool at_work = false;       // a method that chooses as it goes was going: what it spent since is not known
  TrainingState training;
  std::optional<HeldReservation> ledger;
};

// Lossless. InputError, naming `file` and the key, for what is not a checkpoint of this version.
std::string to_json(const Checkpoint& checkpoint);
Checkpoint checkpoint_from_json(std::string_view text, const std::string& file);

}  // namespace ration
