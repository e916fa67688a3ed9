// Stable: changes only with a new major version.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ration/privacy/calibrate.h"
#include "ration/privacy/relation.h"
#include "ration/privacy/spending.h"

namespace ration {
namespace sqlite {
class Database;
}

// A data set with the budget that all runs on it share. The hash says which rows, the name is for people.
//
// To a ledger one gives the hash of the data's content; a ledger stores and gives back its fingerprint, which
// is that hash under the ledger's own secret key (Ledger::fingerprint). So nobody who sees the fingerprint,
// in a certificate for example, can check a guess of the rows without the ledger.
struct DataSetBudget {
  std::string hash;                          // 1 to 200 visible characters
  std::string name;                          // 1 to 200 characters on one line
  Relation relation = Relation::add_remove;  // which all runs must use
  Budget total;                              // 0 < epsilon <= 1e6, 0 <= delta < 1
  // The column that names what neighbours differ by, at most 200 visible characters; all runs must protect
  // it. Empty: the row.
  std::string unit{};
};

// A run that wants to begin.
struct RunRequest {
  std::string data_hash;                     // which rows: the hash of their content
  Relation relation = Relation::add_remove;  // must be the data set's
  Budget budget;                             // epsilon > 0, 0 <= delta < 1
  std::string what;                          // for people, on one line: "dpsgd, logistic, plan.toml"
  std::string unit{};                        // must be the data set's
};

// "row", or "patient_id".
inline std::string what_is_protected(const std::string& unit) {
  return unit.empty() ? "row" : unit;
}

// What became of a run.
enum class RunStatus {
  open,       // running, stopped or killed: counts in full
  settled,    // ended well
  abandoned,  // ended without settling: counts in full
};
// "open", "settled" or "abandoned".
std::string_view to_string(RunStatus status);

// A run as the ledger has it.
struct LedgerRun {
  std::int64_t id;        // counts from 1, in the order in which runs began
  std::string data_hash;  // which rows: their fingerprint
  std::string what;       // as its request said
  RunStatus status;       // now
  Budget reserved;        // when it began
  Budget charged;         // what counts against the data set: reserved, until settled
  Budget stated;          // what the run said it spent; zero until settled
  std::string started;    // 2026-01-31T12:00:00Z
  std::string ended;      // empty while open
};

// A data set's account.
struct LedgerState {
  DataSetBudget data;  // as it was added, with the fingerprint as its hash
  Budget spent;        // rounded up
  Budget remaining;    // rounded down: asking for it fits
  std::int64_t runs;   // of any status
};

// A new name for whoever holds a run: 32 hexadecimal digits, 128 bits of SecureRandom, so no two are equal.
// Who knows the token can take the run over: it belongs into the run's checkpoint and into no log or report.
std::string new_holder_token();

// The right of one run to spend its budget. The ledger has charged it in full already; settling can only give
// back.
//
// Destroyed unsettled, it is marked abandoned and stays charged in full; after a crash it stays open, and
// charged. A forked child's copy does nothing when destroyed and refuses to settle. Once another process has
// taken the run over (Ledger::reattach), this object can change nothing any more.
class Reservation {
 public:
  ~Reservation();
  // The new object has the right; the old one does nothing any more.
  Reservation(Reservation&&) noexcept;
  Reservation& operator=(Reservation&&) = delete;

  // The run's number in the ledger.
  std::int64_t run() const { return run_; }
  // What the run may spend.
  const Budget& budget() const { return budget_; }
  // The token of this attachment: what a checkpoint needs for the run to be resumed.
  const std::string& holder() const { return holder_; }

  // Records what was spent, at most the budget in epsilon and in delta, once. Throws InternalError, and
  // leaves the whole reservation charged, if it is more, or was settled before, or another process has taken
  // the run over, or it cannot be written.
  void settle(const Budget& spent, SpendingBy by);

  // The process ends and the run goes on later: it stays open and charged in full. Afterwards this object
  // does nothing when destroyed and refuses to settle.
  void leave_open() noexcept;

 private:
  friend class Ledger;
  Reservation(std::shared_ptr<sqlite::Database> database, std::int64_t run, const Budget& budget,
              std::string holder);

  std::shared_ptr<sqlite::Database> database_;  // empty once settled, left open or moved from
  std::int64_t run_;
  Budget budget_;
  std::string holder_;
};

// The budgets of data sets, which outlive runs: an SQLite file that several processes may use at once.
//
// Guarantee    whatever runs are reserved, in whatever order, at once or one after another, each chosen from
//              what earlier ones released: all that they release together is (total epsilon, total delta)-DP
//              under the data set's relation, provided that every use of the rows goes through this ledger.
// Why          the ledger is the filter of basic composition: it grants a run only if the sum of epsilon and
//              the sum of delta stay within the total, which holds for parameters chosen adaptively
//              [Rogers16] and for runs that overlap in time [Haney23]. Sums of (epsilon, delta) are not the
//              smallest bound, but the one that needs to know nothing about the runs' mechanisms or
//              accountants.
// Arithmetic   exact, in decimals: ten runs of 0.1 fit into 1, and 1e-12 more does not
//              (privacy/decimal_amount.h).
// Crashes      a run is charged, durably, in one transaction before reserve() returns; nothing that happens
//              later can raise the remainder except settle(). A commit that reports an error may still have
//              happened; then too much is charged, never too little.
// Secrets      the file holds a key of 256 random bits and the tokens of open runs: who can read it can check
//              guesses of the rows by their fingerprint, take runs over and seal checkpoints.
// Not covered  a second ledger for the same rows, the same rows under another hash, an old copy put back in
//              place, copies of a checkpoint made while its run goes on (see below).
//
// Resuming     a run that was killed or stopped is taken over by whoever knows its holder's token, which is
//              in its checkpoint. Each takeover replaces the token, so that of several copies of a checkpoint
//              one can be resumed, once:
//                1. draw `next`, and add it to the tokens in the checkpoint, durably;
//                2. reattach(run, hash, the tokens that were there before, next);
//                3. write the checkpoint with `next` as its only token.
//              A checkpoint has one token then, and one more for each attempt broken off between 1 and 3.
//              None may be dropped before 3: each may be the one in the ledger.
// Crashes      until 2 has happened the ledger has a token that the checkpoint knew before; from then on it
//   between    has `next`, which the checkpoint knows since 1. So the checkpoint always knows the ledger's
//              token and can be resumed, also if the commit in 2 reports an error and has happened.
// Copies       let two processes resume copies of one checkpoint. Each draws its own `next` after the copy
//              was made, so neither copy knows the other's. The swaps are transactions, hence one is first;
//              it puts a token into the ledger that the other copy does not know, and no token comes back, as
//              each is drawn anew. So the other gets nullopt, then and for ever. This is also why `next` may
//              not be among `known`: two copies that used a `next` they share would both succeed.
// Limits       the ledger cannot tell a dead process from a living one, nor an early checkpoint from a late
//              one with the same token. A copy of a living run's checkpoint can take the run over; the living
//              one learns of it when it settles, and what it showed since the copy was made is spent beyond
//              the reservation. So do 1 to 3 at every checkpoint too, with the new state written in 1, and
//              show nothing between checkpoints. Then earlier checkpoints are refused, and a living process
//              that was robbed is refused at its next checkpoint, which it must delete unseen.
//
// Throws InputError for a file that is no ledger, is damaged, cannot be written, or is of a newer version;
// InternalError when the machine fails (disk full, locked by others for half a minute). A ledger of an older
// version is brought up to date when it is opened. Not thread-safe.
class Ledger {
 public:
  // An existing ledger.
  explicit Ledger(const std::string& path);
  // The same, made if there is no such file.
  static Ledger open_or_create(const std::string& path);
  // An existing ledger to look at, as it is: nothing is written, and the file and its folder may be
  // read-only. One of an older version is not brought up to date.
  static Ledger open_to_read(const std::string& path);
  ~Ledger();
  // The new object has the file; the old one may only be destroyed.
  Ledger(Ledger&&) noexcept;
  Ledger& operator=(Ledger&&) = delete;

  // InputError if the hash is known already: a budget is set once.
  void add(const DataSetBudget& data);

  // Charges the run's whole budget, or refuses with nullopt and changes nothing; `remaining`, if given,
  // receives what is left afterwards. InputError if the data set is unknown or has another relation or unit.
  [[nodiscard]] std::optional<Reservation> reserve(const RunRequest& request, Budget* remaining = nullptr);

  // Takes over an open run from a process that died or was stopped, as "Resuming" says. Swaps the ledger's
  // token for `next` if it is one of `known`; nullopt, and no change, if another process has taken the run
  // over: the caller's checkpoint is an old copy. InputError, and no change, if there is no such run, it is
  // of other data, settled, abandoned or of an older version's ledger, if something is no token, or `next` is
  // not new. The relation is that of the data set, which reserve() compared and which never changes.
  [[nodiscard]] std::optional<Reservation> reattach(std::int64_t run, const std::string& data_hash,
                                                    std::span<const std::string> known,
                                                    const std::string& next);

  // What stands in this ledger, and in certificates, for data of this content: HMAC-SHA256 under the
  // ledger's key, in 64 hexadecimal digits. In a ledger of an older version that is only looked at, the hash
  // itself.
  std::string fingerprint(const std::string& content_hash) const;
  // Whether data of this content has a budget here.
  bool knows(const std::string& content_hash) const;
  // HMAC-SHA256 of `text` under the ledger's key for this purpose, in 64 hexadecimal digits: only who has the
  // ledger can make it. The library seals checkpoints with it.
  std::string mark(std::string_view purpose, std::string_view text) const;

  // In the order they were added.
  std::vector<LedgerState> states() const;
  // InputError, listing what is known, if the hash is not.
  LedgerState state(const std::string& data_hash) const;
  // In the order they began.
  std::vector<LedgerRun> runs() const;

  // As it was opened.
  const std::string& path() const;

 private:
  explicit Ledger(std::shared_ptr<sqlite::Database> database);

  std::shared_ptr<sqlite::Database> database_;
};

}  // namespace ration
