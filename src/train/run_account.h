#pragma once

#include <optional>
#include <string>
#include <vector>

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

// A run's place in its ledger, if the plan names one; without a ledger every call does nothing.
class RunAccount {
 public:
  RunAccount() = default;

  // Charges the plan's whole budget. Throws BudgetRefused if too little is left.
  static RunAccount reserve(const ResolvedPlan& resolved, const std::string& data_hash);
  // Of a run that goes on; the reservation is this process's from the next save() on.
  static RunAccount take_over(const Plan& plan, const Checkpoint& checkpoint);

  bool exists() const { return ledger_.has_value(); }
  const std::optional<LedgerEntry>& entry() const { return entry_; }
  // Whether an earlier process settled the run and died before it could say so.
  bool is_settled() const { return ledger_ && status() == RunStatus::settled; }

  // Writes a checkpoint such that every earlier one is worthless: see privacy/ledger.h, "Resuming". Throws
  // TakenOver if that happened to this one.
  void save(const RunFolder& folder, Checkpoint& checkpoint);

  void settle(const Certificate& certificate);
  // Nothing was released. What cannot be given back stays charged.
  void give_back() noexcept;
  void leave_open();

 private:
  std::optional<RunStatus> status() const;
  Reservation reattach(const std::vector<std::string>& known, const std::string& next);
  void hold(Reservation reservation);

  std::optional<Ledger> ledger_;
  std::optional<Reservation> reservation_;
  std::optional<LedgerEntry> entry_;
  std::vector<std::string> tokens_;
  std::string data_hash_;
};

}  // namespace ration
