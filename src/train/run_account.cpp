#include "train/run_account.h"

#include <fmt/format.h>

#include <utility>

#include "base/check.h"
#include "base/user_key.h"

namespace ration {
namespace {

std::string describe(const Plan& plan) {
  return fmt::format("{}, {}", plan.method.name(), plan.model.name());
}

std::string too_little(const ResolvedPlan& resolved, const Budget& left) {
  return fmt::format("{}: epsilon {} and delta {} are left for these rows, less than the {} and {} asked",
                     resolved.plan.ledger, show_rounded_down(left.epsilon), show_rounded_down(left.delta),
                     show(resolved.budget.epsilon), show(resolved.budget.delta));
}

}  // namespace

RunAccount RunAccount::reserve(const ResolvedPlan& resolved, const std::string& content_hash) {
  RunAccount account;
  account.content_hash_ = content_hash;
  if (resolved.plan.ledger.empty()) {
    account.user_key_ = user_key();
    return account;
  }
  account.ledger_.emplace(resolved.plan.ledger);
  Budget left{};
  auto reservation = account.ledger_->reserve({.data_hash = content_hash,
                                               .relation = resolved.relation,
                                               .budget = resolved.budget,
                                               .what = describe(resolved.plan),
                                               .unit = resolved.plan.unit},
                                              &left);
  if (!reservation) throw BudgetRefused(too_little(resolved, left));
  account.hold(std::move(*reservation));
  return account;
}

RunAccount RunAccount::take_over(const Plan& plan, const StoredCheckpoint& stored,
                                 const std::string& content_hash) {
  const Checkpoint checkpoint = stored.unproven();  // of the bytes whose seal is looked at below
  if (plan.ledger.empty() != !checkpoint.ledger)
    throw InputError("checkpoint: expected a ledger if and only if the plan has one");
  RunAccount account;
  account.content_hash_ = content_hash;
  if (checkpoint.ledger) {
    account.ledger_.emplace(plan.ledger);
    account.entry_ = checkpoint.ledger->entry;
    account.tokens_ = checkpoint.ledger->tokens;
  } else {
    account.user_key_ = user_key();
  }
  stored.open(account.sealer());
  if (!same_mark(checkpoint.data_hash, account.marked_data()))
    throw InputError(fmt::format("{}: not the rows the run began with", plan.data));
  return account;
}

Sealer RunAccount::sealer() const {
  return [this](std::string_view text) {
    if (ledger_) return ledger_->mark("checkpoint", text);
    return user_key_ ? user_key_->mark("checkpoint", text) : std::string();
  };
}

std::string RunAccount::marked_data() const {
  if (ledger_) return ledger_->fingerprint(content_hash_);
  return user_key_ ? user_key_->mark("data", content_hash_) : std::string();
}

void RunAccount::save(const RunFolder& folder, Checkpoint& checkpoint) {
  checkpoint.data_hash = marked_data();
  if (!ledger_) return folder.save(checkpoint, sealer());
  const std::string next = new_holder_token();
  const std::vector<std::string> known = tokens_;
  tokens_.push_back(next);
  checkpoint.ledger = HeldReservation{*entry_, tokens_};
  folder.save(checkpoint, sealer());
  Reservation reservation = reattach(known, next);
  leave_open();
  reservation_.emplace(std::move(reservation));
  tokens_ = {next};
}

void RunAccount::settle(const Certificate& certificate) {
  if (!reservation_) return;
  reservation_->settle({certificate.epsilon, certificate.delta}, certificate.spending_by);
  reservation_.reset();
}

void RunAccount::give_back() noexcept {
  try {
    if (reservation_) reservation_->settle({0, 0}, SpendingBy::plan);
  } catch (const std::exception&) {
    // The caller is about to say what went wrong first.
  }
  reservation_.reset();
}

void RunAccount::leave_open() {
  if (reservation_) reservation_->leave_open();
  reservation_.reset();
}

std::optional<RunStatus> RunAccount::status() const {
  for (const LedgerRun& run : ledger_->runs()) {
    if (run.id == entry_->run) return run.status;
  }
  return std::nullopt;
}

Reservation RunAccount::reattach(const std::vector<std::string>& known, const std::string& next) {
  try {
    if (auto reservation = ledger_->reattach(entry_->run, content_hash_, known, next))
      return std::move(*reservation);
  } catch (const InputError& error) {
    if (status() == RunStatus::open) throw;
    throw TakenOver(error.what());
  }
  throw TakenOver(
      fmt::format("{}: run {} was resumed elsewhere, from a copy of this folder; this copy cannot go on",
                  entry_->file, entry_->run));
}

void RunAccount::hold(Reservation reservation) {
  entry_ = LedgerEntry{.file = ledger_->path(), .run = reservation.run(), .reserved = reservation.budget()};
  tokens_ = {reservation.holder()};
  reservation_.emplace(std::move(reservation));
}

}  // namespace ration
