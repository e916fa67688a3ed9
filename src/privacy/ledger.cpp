#include "ration/privacy/ledger.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/quote.h"
#include "base/secret_key.h"
#include "privacy/decimal_amount.h"
#include "privacy/sqlite.h"
#include "ration/base/error.h"
#include "ration/base/random.h"

namespace ration {
namespace {

using sqlite::Database;
using sqlite::ImmediateTransaction;
using sqlite::Snapshot;
using sqlite::Statement;

constexpr std::int64_t kApplication = 0x5261546E;  // "RaTn", in the file's header
constexpr std::int64_t kVersion = 4;
constexpr std::int64_t kFirstWithKey = 3;
constexpr std::int64_t kFirstWithUnits = 4;
constexpr std::size_t kLongestText = 200;
constexpr std::size_t kTokenDigits = 32;

// Amounts are decimals in text, exact and readable with any SQLite tool. `stated` is for people; `charged`
// counts. A data set's hash is that of its content, marked with the ledger's key.
constexpr const char* kSchema = R"(
  CREATE TABLE data_sets (
    hash TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    relation TEXT NOT NULL CHECK (relation IN ('add_remove', 'replace_one')),
    epsilon TEXT NOT NULL,
    delta TEXT NOT NULL,
    added TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%SZ', 'now')),
    unit TEXT NOT NULL DEFAULT ''
  ) STRICT;
  CREATE TABLE runs (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    data_hash TEXT NOT NULL REFERENCES data_sets (hash),
    what TEXT NOT NULL,
    status TEXT NOT NULL DEFAULT 'open' CHECK (status IN ('open', 'settled', 'abandoned')),
    reserved_epsilon TEXT NOT NULL,
    reserved_delta TEXT NOT NULL,
    charged_epsilon TEXT NOT NULL,
    charged_delta TEXT NOT NULL,
    stated_epsilon TEXT NOT NULL DEFAULT '0',
    stated_delta TEXT NOT NULL DEFAULT '0',
    started TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%SZ', 'now')),
    ended TEXT NOT NULL DEFAULT '',
    holder TEXT NOT NULL DEFAULT '',
    unit TEXT NOT NULL DEFAULT ''
  ) STRICT;
  CREATE INDEX runs_by_data ON runs (data_hash);
  CREATE TRIGGER runs_protect_the_unit BEFORE INSERT ON runs
    WHEN NEW.unit <> (SELECT unit FROM data_sets WHERE hash = NEW.data_hash)
    BEGIN SELECT RAISE(ABORT, 'the run protects another unit than the budget is for'); END;
  CREATE TABLE secrets (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
  ) STRICT;
  PRAGMA application_id = 1382110318;
  PRAGMA user_version = 4;
)";
static_assert(kApplication == 1382110318 && kVersion == 4);

// Version 1 had no holders. Its runs keep none: nobody can have noted a token for them.
constexpr const char* kFromVersion1 = R"(
  ALTER TABLE runs ADD COLUMN holder TEXT NOT NULL DEFAULT '';
  PRAGMA user_version = 2;
)";

// Version 2 had no key, and the hashes as they were. The rows of two tables change their common value, so the
// reference between them is checked at the end.
constexpr const char* kFromVersion2 = R"(
  CREATE TABLE secrets (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
  ) STRICT;
  PRAGMA defer_foreign_keys = ON;
  PRAGMA user_version = 3;
)";

// Version 3 had no units: all its budgets are for rows. A program of version 3 that has the ledger open knows
// nothing of units and writes none, so the trigger keeps its runs off a budget for units.
constexpr const char* kFromVersion3 = R"(
  ALTER TABLE data_sets ADD COLUMN unit TEXT NOT NULL DEFAULT '';
  ALTER TABLE runs ADD COLUMN unit TEXT NOT NULL DEFAULT '';
  CREATE TRIGGER runs_protect_the_unit BEFORE INSERT ON runs
    WHEN NEW.unit <> (SELECT unit FROM data_sets WHERE hash = NEW.data_hash)
    BEGIN SELECT RAISE(ABORT, 'the run protects another unit than the budget is for'); END;
  PRAGMA user_version = 4;
)";

struct DecimalBudget {
  DecimalAmount epsilon;
  DecimalAmount delta;

  bool operator==(const DecimalBudget&) const = default;
  bool fits_into(const DecimalBudget& other) const {
    return epsilon <= other.epsilon && delta <= other.delta;
  }
  bool is_zero() const { return *this == DecimalBudget{}; }
};

DecimalBudget operator+(const DecimalBudget& a, const DecimalBudget& b) {
  return {a.epsilon + b.epsilon, a.delta + b.delta};
}

DecimalBudget rounded_up(const Budget& budget) {
  return {DecimalAmount::rounded_up(budget.epsilon), DecimalAmount::rounded_up(budget.delta)};
}

DecimalBudget rounded_down(const Budget& budget) {
  return {DecimalAmount::rounded_down(budget.epsilon), DecimalAmount::rounded_down(budget.delta)};
}

Budget for_people_spent(const DecimalBudget& amount) {
  return {amount.epsilon.smallest_double(), amount.delta.smallest_double()};
}

Budget for_people_left(const DecimalBudget& amount) {
  return {amount.epsilon.largest_double(), amount.delta.largest_double()};
}

Budget left_of(const DecimalBudget& total, const DecimalBudget& spent) {
  return for_people_left(
      {minus_at_least_zero(total.epsilon, spent.epsilon), minus_at_least_zero(total.delta, spent.delta)});
}

void require_budget(std::string_view where, const Budget& budget) {
  require(where, "epsilon", budget.epsilon, greater_than(0).at_most(1e6));
  require(where, "delta", budget.delta, at_least(0).less_than(1));
}

// Text goes to terminals and tables: no control characters, and for a hash no blanks.
void require_text(std::string_view name, std::string_view text, bool blanks_allowed) {
  const unsigned char lowest = blanks_allowed ? ' ' : '!';
  const bool visible = std::all_of(text.begin(), text.end(), [lowest](char c) {
    const auto code = static_cast<unsigned char>(c);
    return code >= lowest && code != 0x7f;
  });
  if (visible && !text.empty() && text.size() <= kLongestText) return;
  throw InputError(fmt::format("ledger: expected {} of 1 to {} visible characters{}, got {}", name,
                               kLongestText, blanks_allowed ? " on one line" : " without blanks",
                               text.empty() ? "none" : fmt::format("{} of them", text.size())));
}

// The message does not repeat the text, which may be most of a token.
void require_token(std::string_view text) {
  const bool digits = text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
  if (digits && text.size() == kTokenDigits) return;
  throw InputError(fmt::format("reattach: expected a token of {} hexadecimal digits, got {} characters{}",
                               kTokenDigits, text.size(), digits ? "" : ", not all of them such digits"));
}

DecimalAmount amount_at(const Database& database, const Statement& row, int column) {
  const std::string text = row.text(column);
  if (const auto amount = DecimalAmount::from_text(text)) return *amount;
  throw InputError(fmt::format("{}: the ledger is damaged: expected a decimal amount, got {}",
                               database.path(), in_quotes(text)));
}

// Shown to people, so whoever wrote it must not be able to write to their terminal.
std::string text_at(const Database& database, const Statement& row, int column) {
  std::string text = row.text(column);
  if (one_line(text) == text) return text;
  throw InputError(fmt::format("{}: the ledger is damaged: expected a text on one line, got {}",
                               database.path(), in_quotes(text)));
}

DecimalBudget budget_at(const Database& database, const Statement& row, int column) {
  return {amount_at(database, row, column), amount_at(database, row, column + 1)};
}

RunStatus status_from_string(std::string_view name) {
  for (const RunStatus status : {RunStatus::open, RunStatus::settled}) {
    if (name == to_string(status)) return status;
  }
  return RunStatus::abandoned;
}

std::int64_t version_of(Database& database) {
  return database.integer("PRAGMA user_version");
}

void make_key(Database& database) {
  Statement insert = database.prepare("INSERT INTO secrets (name, value) VALUES ('key', ?)");
  insert.bind(1, SecretKey::fresh().hexadecimal()).step();
}

SecretKey key_of(Database& database) {
  const auto key = SecretKey::from_hexadecimal(database.text("SELECT value FROM secrets WHERE name = 'key'"));
  if (key) return *key;
  throw InputError(
      fmt::format("{}: the ledger is damaged: it has lost its key; restore it from a copy", database.path()));
}

// How the ledger writes a data set's content hash. One of an older version that is only looked at has no key
// and writes it as it is.
std::string stored_hash(Database& database, const std::string& content_hash) {
  if (version_of(database) < kFirstWithKey) return content_hash;
  return key_of(database).mark("data", content_hash);
}

struct StoredDataSet {
  DataSetBudget data;
  DecimalBudget total;
};

StoredDataSet data_set_at(const Database& database, const Statement& row) {
  const DecimalBudget total = budget_at(database, row, 3);
  const auto relation = find_named<Relation>(row.text(2));
  if (!relation)
    throw InputError(fmt::format("{}: the ledger is damaged: expected a relation, got {}", database.path(),
                                 in_quotes(row.text(2))));
  return {{text_at(database, row, 0), text_at(database, row, 1), *relation, for_people_left(total),
           text_at(database, row, 5)},
          total};
}

// One of an older version that is only looked at has no units.
std::string select_data_sets(Database& database) {
  const char* unit = version_of(database) < kFirstWithUnits ? "''" : "unit";
  return fmt::format("SELECT hash, name, relation, epsilon, delta, {} FROM data_sets ORDER BY rowid", unit);
}

std::vector<StoredDataSet> all_data_sets(Database& database) {
  std::vector<StoredDataSet> all;
  const std::string select = select_data_sets(database);
  for (Statement row = database.prepare(select.c_str()); row.step();)
    all.push_back(data_set_at(database, row));
  return all;
}

StoredDataSet find_data_set(Database& database, const std::string& hash) {
  std::string known;
  for (StoredDataSet& one : all_data_sets(database)) {
    if (one.data.hash == hash) return std::move(one);
    known += fmt::format("{}{} ({})", known.empty() ? "" : ", ", in_quotes(one.data.name),
                         one_line(one.data.hash.substr(0, 12)));
  }
  throw InputError(fmt::format("{}: no budget for the data set {:.12}; it has {}; see 'ration ledger init'",
                               database.path(), hash, known.empty() ? "none" : known));
}

struct Spending {
  DecimalBudget charged;
  std::int64_t runs = 0;
};

// Added up anew each time, so that no second figure can disagree with the list of runs.
Spending spending_on(Database& database, const std::string& hash) {
  Statement row = database.prepare("SELECT charged_epsilon, charged_delta FROM runs WHERE data_hash = ?");
  Spending spending;
  for (row.bind(1, hash); row.step(); ++spending.runs) {
    spending.charged = spending.charged + budget_at(database, row, 0);
  }
  return spending;
}

LedgerState state_of(Database& database, const StoredDataSet& stored) {
  const Spending spending = spending_on(database, stored.data.hash);
  return {stored.data, for_people_spent(spending.charged), left_of(stored.total, spending.charged),
          spending.runs};
}

void require_same_relation(const Database& database, const DataSetBudget& data, Relation asked) {
  if (data.relation == asked) return;
  throw InputError(
      fmt::format("{}: the budget of {} is for relation {}, the run is for {}; a guarantee holds for one",
                  database.path(), in_quotes(data.name), to_string(data.relation), to_string(asked)));
}

// Rows and units are different neighbours: what is left for one says nothing about the other.
void require_same_unit(const Database& database, const DataSetBudget& data, const std::string& asked) {
  if (data.unit == asked) return;
  throw InputError(
      fmt::format("{}: the budget of {} is for each {}, the run protects each {}; a guarantee holds "
                  "for one, so make a ledger for the other ('ration ledger init --unit')",
                  database.path(), in_quotes(data.name), what_is_protected(data.unit),
                  what_is_protected(one_line(asked))));
}

void write_budget(Statement& statement, int position, const DecimalBudget& budget) {
  statement.bind(position, budget.epsilon.to_text()).bind(position + 1, budget.delta.to_text());
}

std::int64_t insert_run(Database& database, const RunRequest& request, const std::string& hash,
                        const DecimalBudget& asked, const std::string& holder) {
  Statement insert = database.prepare(
      "INSERT INTO runs (data_hash, what, reserved_epsilon, reserved_delta, charged_epsilon, charged_delta,"
      " holder, unit) VALUES (?, ?, ?, ?, ?, ?, ?, ?)");
  insert.bind(1, hash).bind(2, request.what).bind(7, holder).bind(8, request.unit);
  write_budget(insert, 3, asked);
  write_budget(insert, 5, asked);
  insert.step();
  return database.last_row();
}

// What goes on counting after a run: see SpendingBy.
DecimalBudget charge_for(const DecimalBudget& reserved, const DecimalBudget& spent, SpendingBy by) {
  return by == SpendingBy::plan || spent.is_zero() ? spent : reserved;
}

struct StoredRun {
  std::string data_hash;
  std::string status;
  std::string holder;
  DecimalBudget reserved;
};

StoredRun find_run(Database& database, std::int64_t run) {
  Statement row = database.prepare(
      "SELECT data_hash, status, holder, reserved_epsilon, reserved_delta FROM runs WHERE id = ?");
  row.bind(1, run);
  if (!row.step()) throw InputError(fmt::format("{}: there is no run {}", database.path(), run));
  return {row.text(0), row.text(1), row.text(2), budget_at(database, row, 3)};
}

void require_resumable(const Database& database, std::int64_t run, const StoredRun& stored,
                       const std::string& data_hash) {
  const auto refuse = [&](const std::string& why) {
    throw InputError(fmt::format("{}: run {} cannot be resumed: {}", database.path(), run, why));
  };
  if (stored.data_hash != data_hash) {
    refuse(fmt::format("it is a run on the data set {:.12}, not on {:.12}", stored.data_hash, data_hash));
  }
  if (stored.status != to_string(RunStatus::open)) refuse(fmt::format("it is {}", stored.status));
  if (stored.holder.empty()) refuse("it began with an older version, which noted no holder");
}

void replace_holder(Database& database, std::int64_t run, const std::string& holder) {
  Statement update = database.prepare("UPDATE runs SET holder = ? WHERE id = ?");
  update.bind(1, holder).bind(2, run).step();
}

void settle_run(Database& database, std::int64_t run, const std::string& holder, const DecimalBudget& charged,
                const DecimalBudget& stated) {
  ImmediateTransaction transaction(database);
  Statement update = database.prepare(
      "UPDATE runs SET status = 'settled', charged_epsilon = ?, charged_delta = ?, stated_epsilon = ?,"
      " stated_delta = ?, ended = strftime('%Y-%m-%dT%H:%M:%SZ', 'now')"
      " WHERE id = ? AND status = 'open' AND holder = ?");
  write_budget(update, 1, charged);
  write_budget(update, 3, stated);
  update.bind(5, run).bind(6, holder).step();
  if (database.rows_changed() != 1) {
    throw InternalError(
        fmt::format("{}: run {} cannot be settled: it is not open, or another process has taken it over",
                    database.path(), run));
  }
  transaction.commit();
}

void mark_abandoned(Database& database, std::int64_t run, const std::string& holder) {
  ImmediateTransaction transaction(database);
  Statement update = database.prepare(
      "UPDATE runs SET status = 'abandoned', ended = strftime('%Y-%m-%dT%H:%M:%SZ', 'now')"
      " WHERE id = ? AND status = 'open' AND holder = ?");
  update.bind(1, run).bind(2, holder).step();
  transaction.commit();
}

bool is_empty(Database& database) {
  return database.integer("SELECT count(*) FROM sqlite_schema") == 0 && version_of(database) == 0;
}

void require_ledger(Database& database) {
  if (database.integer("PRAGMA application_id") != kApplication) {
    throw InputError(fmt::format("{}: not a ledger{}", database.path(),
                                 is_empty(database) ? ": it is empty; make one with 'ration ledger init'"
                                                    : ": it is some other SQLite file"));
  }
  const std::int64_t version = version_of(database);
  if (version < 1 || version > kVersion) {
    throw InputError(
        fmt::format("{}: the ledger has version {}, this program knows versions 1 to {}; use a newer one",
                    database.path(), version, kVersion));
  }
  const std::string verdict = database.text("PRAGMA quick_check(1)");
  if (verdict != "ok") {
    throw InputError(fmt::format("{}: the ledger is damaged ({}); restore it from a copy", database.path(),
                                 one_short_line(verdict)));
  }
}

// Two processes may make the same ledger at once: the second finds it made.
void make_schema_if_empty(Database& database) {
  ImmediateTransaction transaction(database);
  if (is_empty(database)) {
    database.execute(kSchema);
    make_key(database);
  }
  transaction.commit();
}

void replace_hash(Database& database, const char* sql, const std::string& before, const std::string& after) {
  Statement update = database.prepare(sql);
  update.bind(1, after).bind(2, before).step();
}

void mark_hashes(Database& database) {
  database.execute(kFromVersion2);
  make_key(database);
  const SecretKey key = key_of(database);
  for (const StoredDataSet& stored : all_data_sets(database)) {
    const std::string& plain = stored.data.hash;
    const std::string marked = key.mark("data", plain);
    replace_hash(database, "UPDATE data_sets SET hash = ? WHERE hash = ?", plain, marked);
    replace_hash(database, "UPDATE runs SET data_hash = ? WHERE data_hash = ?", plain, marked);
  }
}

// Two processes may open the same old ledger at once: the second finds it upgraded. Looks before it locks, so
// that opening a ledger of today waits for nobody.
void upgrade_if_old(Database& database) {
  if (version_of(database) == kVersion) return;
  ImmediateTransaction transaction(database);
  if (version_of(database) == 1) database.execute(kFromVersion1);
  if (version_of(database) == 2) mark_hashes(database);
  if (version_of(database) == 3) database.execute(kFromVersion3);
  transaction.commit();
}

std::shared_ptr<Database> open_existing(const std::string& path) {
  auto database = std::make_shared<Database>(path, Database::Open::existing);
  require_ledger(*database);
  database->use_write_ahead_log();
  upgrade_if_old(*database);
  return database;
}

std::shared_ptr<Database> open_to_look(const std::string& path) {
  const bool here = Database::can_write(path);  // SQLite reads best where it could write
  auto database = std::make_shared<Database>(path, here ? Database::Open::existing : Database::Open::to_read);
  require_ledger(*database);
  return database;
}

std::shared_ptr<Database> open_or_make(const std::string& path) {
  auto database = std::make_shared<Database>(path, Database::Open::or_create);
  if (!is_empty(*database)) require_ledger(*database);
  database->use_write_ahead_log();
  make_schema_if_empty(*database);
  require_ledger(*database);
  upgrade_if_old(*database);
  return database;
}

}  // namespace

std::string_view to_string(RunStatus status) {
  switch (status) {
    case RunStatus::open:
      return "open";
    case RunStatus::settled:
      return "settled";
    case RunStatus::abandoned:
      return "abandoned";
  }
  return "unknown";
}

std::string new_holder_token() {
  SecureRandom& random = SecureRandom::for_this_thread();
  const std::uint64_t first = random.next_word();
  return fmt::format("{:016x}{:016x}", first, random.next_word());
}

Reservation::Reservation(std::shared_ptr<sqlite::Database> database, std::int64_t run, const Budget& budget,
                         std::string holder)
    : database_(std::move(database)), run_(run), budget_(budget), holder_(std::move(holder)) {}

Reservation::Reservation(Reservation&&) noexcept = default;

Reservation::~Reservation() {
  if (!database_ || !database_->opened_by_this_process()) return;
  try {
    mark_abandoned(*database_, run_, holder_);
  } catch (const std::exception&) {
    // It stays open, which is charged the same.
  }
}

void Reservation::settle(const Budget& spent, SpendingBy by) {
  if (!database_) throw InternalError(fmt::format("ledger: run {} is settled or left open already", run_));
  require("settle", "epsilon", spent.epsilon, at_least(0).at_most(1e6));
  require("settle", "delta", spent.delta, at_least(0).less_than(1));
  const DecimalBudget reserved = rounded_up(budget_);
  const DecimalBudget stated = rounded_up(spent);
  if (!stated.fits_into(reserved)) {
    throw InternalError(fmt::format("{}: run {} spent epsilon {}, delta {}, more than the reserved {}, {}",
                                    database_->path(), run_, spent.epsilon, spent.delta, budget_.epsilon,
                                    budget_.delta));
  }
  settle_run(*database_, run_, holder_, charge_for(reserved, stated, by), stated);
  database_.reset();
}

void Reservation::leave_open() noexcept {
  database_.reset();
}

Ledger::Ledger(std::shared_ptr<sqlite::Database> database) : database_(std::move(database)) {}
Ledger::Ledger(const std::string& path) : Ledger(open_existing(path)) {}
Ledger Ledger::open_or_create(const std::string& path) {
  return Ledger(open_or_make(path));
}
Ledger Ledger::open_to_read(const std::string& path) {
  return Ledger(open_to_look(path));
}
Ledger::~Ledger() = default;
Ledger::Ledger(Ledger&&) noexcept = default;

const std::string& Ledger::path() const {
  return database_->path();
}

void Ledger::add(const DataSetBudget& data) {
  require_text("a hash", data.hash, false);
  require_text("a name", data.name, true);
  if (!data.unit.empty()) require_text("a unit", data.unit, true);
  require_budget("ledger", data.total);
  ImmediateTransaction transaction(*database_);
  const std::string hash = stored_hash(*database_, data.hash);
  for (const StoredDataSet& known : all_data_sets(*database_)) {
    if (known.data.hash != hash) continue;
    throw InputError(fmt::format("{}: this data set has a budget already: {}, epsilon {}, delta {}", path(),
                                 in_quotes(known.data.name), known.data.total.epsilon,
                                 known.data.total.delta));
  }
  Statement insert = database_->prepare(
      "INSERT INTO data_sets (hash, name, relation, epsilon, delta, unit) VALUES (?, ?, ?, ?, ?, ?)");
  insert.bind(1, hash).bind(2, data.name).bind(3, to_string(data.relation));
  write_budget(insert, 4, rounded_down(data.total));
  insert.bind(6, data.unit);
  insert.step();
  transaction.commit();
}

std::optional<Reservation> Ledger::reserve(const RunRequest& request, Budget* remaining) {
  require_text("what", request.what, true);
  require_budget("reserve", request.budget);
  const DecimalBudget asked = rounded_up(request.budget);
  std::string holder = new_holder_token();
  ImmediateTransaction transaction(*database_);
  const std::string hash = stored_hash(*database_, request.data_hash);
  const StoredDataSet stored = find_data_set(*database_, hash);
  require_same_relation(*database_, stored.data, request.relation);
  require_same_unit(*database_, stored.data, request.unit);
  const DecimalBudget before = spending_on(*database_, hash).charged;
  const bool granted = (before + asked).fits_into(stored.total);
  if (remaining != nullptr) *remaining = left_of(stored.total, granted ? before + asked : before);
  if (!granted) return std::nullopt;
  const std::int64_t run = insert_run(*database_, request, hash, asked, holder);
  transaction.commit();
  return Reservation(database_, run, request.budget, std::move(holder));
}

std::optional<Reservation> Ledger::reattach(std::int64_t run, const std::string& data_hash,
                                            std::span<const std::string> known, const std::string& next) {
  require_token(next);
  for (const std::string& token : known) require_token(token);
  const auto is_known = [&](const std::string& token) {
    return std::find(known.begin(), known.end(), token) != known.end();
  };
  if (is_known(next))
    throw InputError("reattach: the next token must be new, but it is among the known ones");
  ImmediateTransaction transaction(*database_);
  const StoredRun stored = find_run(*database_, run);
  require_resumable(*database_, run, stored, stored_hash(*database_, data_hash));
  if (!is_known(stored.holder)) return std::nullopt;
  replace_holder(*database_, run, next);
  transaction.commit();
  // settle() rounds this budget up again, to the very decimals that are reserved: see largest_double().
  return Reservation(database_, run, for_people_left(stored.reserved), next);
}

std::string Ledger::fingerprint(const std::string& content_hash) const {
  return stored_hash(*database_, content_hash);
}

bool Ledger::knows(const std::string& content_hash) const {
  const std::string hash = fingerprint(content_hash);
  const std::vector<StoredDataSet> all = all_data_sets(*database_);
  return std::any_of(all.begin(), all.end(), [&](const StoredDataSet& one) { return one.data.hash == hash; });
}

std::string Ledger::mark(std::string_view purpose, std::string_view text) const {
  return key_of(*database_).mark(purpose, text);
}

std::vector<LedgerState> Ledger::states() const {
  const Snapshot at_one_moment(*database_);
  std::vector<LedgerState> states;
  for (const StoredDataSet& stored : all_data_sets(*database_))
    states.push_back(state_of(*database_, stored));
  return states;
}

LedgerState Ledger::state(const std::string& data_hash) const {
  const Snapshot at_one_moment(*database_);
  return state_of(*database_, find_data_set(*database_, stored_hash(*database_, data_hash)));
}

std::vector<LedgerRun> Ledger::runs() const {
  const Snapshot at_one_moment(*database_);
  Statement row = database_->prepare(
      "SELECT id, data_hash, what, status, started, ended, reserved_epsilon, reserved_delta, charged_epsilon,"
      " charged_delta, stated_epsilon, stated_delta FROM runs ORDER BY id");
  std::vector<LedgerRun> runs;
  while (row.step()) {
    runs.push_back({.id = row.integer(0),
                    .data_hash = text_at(*database_, row, 1),
                    .what = text_at(*database_, row, 2),
                    .status = status_from_string(row.text(3)),
                    .reserved = for_people_spent(budget_at(*database_, row, 6)),
                    .charged = for_people_spent(budget_at(*database_, row, 8)),
                    .stated = for_people_spent(budget_at(*database_, row, 10)),
                    .started = text_at(*database_, row, 4),
                    .ended = text_at(*database_, row, 5)});
  }
  return runs;
}

}  // namespace ration
