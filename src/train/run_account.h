#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/secret_key.h"
#include "ration/base/error.h"
#include "ration/privacy/ledger.h"
#include "ration/train/resolve.h"
#include "train/checkpoint.h"
#include "train/run_folder.h"

namespace ration {

// The run is no longer this process's: another has gone on with it, or ended it.
class TakenOver : public InputError {
 public:
  using InputError::InputError;
};

// A run's place in its ledger, if the plan names one, and the key that its checkpoints are sealed with: the
// ledger's, or that of whoever runs the program. Without a ledger nothing is charged and settled.
class RunAccount {
 public:
  RunAccount() = default;

  // Charges the plan's whole budget. Throws BudgetRefused if too little is left.
  static RunAccount reserve(const ResolvedPlan& resolved, const std::string& content_hash);
  // Of a run that goes on; the reservation is this process's from the next save() on. InputError if the
  // checkpoint is not as it was sealed, or its rows are not those of `content_hash`.
  static RunAccount take_over(const Plan& plan, const StoredCheckpoint& stored,
                              const std::string& content_hash);

  const Ledger* ledger() const { return ledger_ ? &*ledger_ : nullptr; }
  const std::optional<LedgerEntry>& entry() const { return entry_; }
  // Whether an earlier process settled the run and died before it could say so.
  bool is_settled() const { return ledger_ && status() == RunStatus::settled; }

  // Writes a checkpoint such that every earlier one is worthless: see privacy/ledger.h, "Resuming". Throws
  // TakenOver if that happened to this one.
  void save(const RunFolder& folder, Checkpoint& checkpoint);

  void settle(const Certificate& certificate);
  // Nothing was released. What cannot be given back stays charged.
  void give_back() noexcept;
  // Nothing was released by the mechanism, but the rows had a say in what happened: all of it stays charged.
  void forfeit() noexcept { reservation_.reset(); }
  void leave_open();

 private:
  std::optional<RunStatus> status() const;
  Reservation reattach(const std::vector<std::string>& known, const std::string& next);
  void hold(Reservation reservation);
  Sealer sealer() const;
  // What a checkpoint says of the rows.
  std::string marked_data() const;

  std::optional<Ledger> ledger_;
  std::optional<Reservation> reservation_;
  std::optional<LedgerEntry> entry_;
  std::vector<std::string> tokens_;
  std::optional<SecretKey> user_key_;  // if there is no ledger
  std::string content_hash_;           // of the rows
};

}  // namespace ration
