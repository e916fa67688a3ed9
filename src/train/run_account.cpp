#include "train/run_account.h"

#include <fmt/format.h>

#include <utility>

#include "base/check.h"

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

RunAccount RunAccount::reserve(const ResolvedPlan& resolved, const std::string& data_hash) {
  RunAccount account;
  if (resolved.plan.ledger.empty()) return account;
  account.ledger_.emplace(resolved.plan.ledger);
  Budget left{};
  auto reservation = account.ledger_->reserve({.data_hash = data_hash,
                                               .relation = resolved.relation,
                                               .budget = resolved.budget,
                                               .what = describe(resolved.plan)},
                                              &left);
  if (!reservation) throw BudgetRefused(too_little(resolved, left));
  account.hold(std::move(*reservation));
  account.data_hash_ = data_hash;
  return account;
}

RunAccount RunAccount::take_over(const Plan& plan, const Checkpoint& checkpoint) {
  if (plan.ledger.empty() != !checkpoint.ledger)
    throw InputError("checkpoint: expected a ledger if and only if the plan has one");
  RunAccount account;
  if (!checkpoint.ledger) return account;
  account.ledger_.emplace(plan.ledger);
  account.data_hash_ = checkpoint.data_hash;
  account.entry_ = checkpoint.ledger->entry;
  account.tokens_ = checkpoint.ledger->tokens;
  return account;
}

void RunAccount::save(const RunFolder& folder, Checkpoint& checkpoint) {
  if (!ledger_) return folder.save(checkpoint);
  const std::string next = new_holder_token();
  const std::vector<std::string> known = tokens_;
  tokens_.push_back(next);
  checkpoint.ledger = HeldReservation{*entry_, tokens_};
  folder.save(checkpoint);
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
    if (auto reservation = ledger_->reattach(entry_->run, data_hash_, known, next))
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
