#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <random>
#include <thread>

#include "privacy/ledgers.h"
#include "ration/base/error.h"
#include "support/forked.h"

namespace ration::testing {
namespace {

using ::testing::HasSubstr;

// What version 1 made, with one run that ended and one that was killed.
constexpr const char* kVersion1 = R"(
  PRAGMA journal_mode = WAL;
  CREATE TABLE data_sets (
    hash TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    relation TEXT NOT NULL CHECK (relation IN ('add_remove', 'replace_one')),
    epsilon TEXT NOT NULL,
    delta TEXT NOT NULL,
    added TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%SZ', 'now'))
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
    ended TEXT NOT NULL DEFAULT ''
  ) STRICT;
  CREATE INDEX runs_by_data ON runs (data_hash);
  PRAGMA application_id = 1382110318;
  PRAGMA user_version = 1;
  INSERT INTO data_sets (hash, name, relation, epsilon, delta)
    VALUES ('0123456789abcdef', 'adult', 'add_remove', '1', '0.000001');
  INSERT INTO runs (data_hash, what, status, reserved_epsilon, reserved_delta, charged_epsilon, charged_delta,
                    stated_epsilon, stated_delta, ended)
    VALUES ('0123456789abcdef', 'ended', 'settled', '0.5', '0', '0.25', '0', '0.25', '0',
            '2026-01-31T12:00:00Z');
  INSERT INTO runs (data_hash, what, reserved_epsilon, reserved_delta, charged_epsilon, charged_delta)
    VALUES ('0123456789abcdef', 'killed', '0.125', '0', '0.125', '0');
)";

std::string old_ledger(const TemporaryFolder& folder) {
  std::string path = folder.path() + "/old.db";
  sqlite::Database(path, sqlite::Database::Open::or_create).execute(kVersion1);
  return path;
}

std::string columns_of_runs(const std::string& path) {
  return behind_the_scenes(path).text(
      "SELECT group_concat(name || ' ' || type || ' ' || \"notnull\" || ' ' || ifnull(dflt_value, '-'), ', ')"
      " FROM pragma_table_info('runs')");
}

void expect_whole(const std::string& path) {
  EXPECT_EQ(integrity_of(path), "ok");
  EXPECT_EQ(behind_the_scenes(path).integer("PRAGMA user_version"), 4);
  Ledger ledger(path);
  EXPECT_EQ(ledger.state(kHash).remaining.epsilon, 0.625);
  EXPECT_EQ(ledger.states().at(0).data.hash, ledger.fingerprint(kHash));
  EXPECT_EQ(behind_the_scenes(path).integer("SELECT count(*) FROM runs JOIN data_sets ON data_hash = hash"),
            2);
  EXPECT_EQ(behind_the_scenes(path).text("PRAGMA foreign_key_check"), "");
  ASSERT_EQ(ledger.runs().size(), 2u);
  EXPECT_EQ(ledger.runs()[0].status, RunStatus::settled);
  EXPECT_EQ(ledger.runs()[1].status, RunStatus::open);
}

TEST(LedgerUpgrade, AnOldLedgerOpensWithItsChargesAndIsThenLikeANewOne) {
  const TemporaryFolder folder;
  const std::string path = old_ledger(folder);
  { const Ledger upgraded(path); }
  expect_whole(path);
  EXPECT_THAT(columns_of_runs(path), HasSubstr("holder TEXT 1 ''"));
  EXPECT_EQ(columns_of_runs(path), columns_of_runs(new_ledger(folder, {1, 0})));
}

// Version 2 had holders and the hashes as they were.
TEST(LedgerUpgrade, ARunOfVersion2CanBeResumed) {
  const TemporaryFolder folder;
  const std::string path = old_ledger(folder);
  const std::string token = new_holder_token();
  behind_the_scenes(path).execute("ALTER TABLE runs ADD COLUMN holder TEXT NOT NULL DEFAULT ''");
  behind_the_scenes(path).execute(("UPDATE runs SET holder = '" + token + "' WHERE id = 2").c_str());
  behind_the_scenes(path).execute("PRAGMA user_version = 2");
  Ledger ledger(path);
  const std::vector<std::string> known{token};
  auto resumed = ledger.reattach(2, kHash, known, new_holder_token());
  ASSERT_TRUE(resumed.has_value());
  resumed->leave_open();
  expect_whole(path);
}

// Looking at it changes nothing, and finds the data set by its hash.
TEST(LedgerUpgrade, AnOldLedgerThatIsOnlyLookedAtStaysOld) {
  const TemporaryFolder folder;
  const std::string path = old_ledger(folder);
  const std::string before = read_whole_file(path);
  {
    const Ledger ledger = Ledger::open_to_read(path);
    EXPECT_EQ(ledger.state(kHash).remaining.epsilon, 0.625);
    EXPECT_EQ(ledger.runs().size(), 2u);
    EXPECT_TRUE(ledger.knows(kHash));
    EXPECT_FALSE(ledger.knows("ffff"));
  }
  EXPECT_EQ(read_whole_file(path), before);
  { const Ledger upgraded(path); }
  expect_whole(path);
}

TEST(LedgerUpgrade, HappensAlsoWhereALedgerWouldBeMade) {
  const TemporaryFolder folder;
  const std::string path = old_ledger(folder);
  { const Ledger upgraded = Ledger::open_or_create(path); }
  expect_whole(path);
}

TEST(LedgerUpgrade, RunsOfTheOlderVersionCannotBeResumedAndNewOnesCan) {
  const TemporaryFolder folder;
  Ledger ledger(old_ledger(folder));
  const std::vector<std::string> known{new_holder_token()};
  EXPECT_THAT(
      message_of<InputError>([&] { std::ignore = ledger.reattach(2, kHash, known, new_holder_token()); }),
      HasSubstr("run 2 cannot be resumed: it began with an older version, which noted no holder"));
  auto run = ledger.reserve({.data_hash = kHash, .budget = {0.5, 0}, .what = "new"});
  run->leave_open();
  const std::vector<std::string> token{run->holder()};
  EXPECT_TRUE(ledger.reattach(run->run(), kHash, token, new_holder_token()).has_value());
}

// The older program, still running, keeps its connection: it reserves and settles as before.
TEST(LedgerUpgrade, AProgramOfTheOlderVersionThatHasItOpenCanEndItsRun) {
  const TemporaryFolder folder;
  const std::string path = old_ledger(folder);
  sqlite::Database older = behind_the_scenes(path);
  const Ledger ledger(path);
  older.execute("UPDATE runs SET status = 'settled', charged_epsilon = '0.0625' WHERE id = 2");
  EXPECT_EQ(ledger.state(kHash).remaining.epsilon, 0.6875);
}

// Version 3 had the key and no units: as version 4 without what has to do with them.
std::string ledger_of_version3(const TemporaryFolder& folder) {
  const std::string path = new_ledger(folder, {1, 0});
  sqlite::Database database = behind_the_scenes(path);
  database.execute("DROP TRIGGER runs_protect_the_unit");
  database.execute("ALTER TABLE runs DROP COLUMN unit");
  database.execute("ALTER TABLE data_sets DROP COLUMN unit");
  database.execute("PRAGMA user_version = 3");
  return path;
}

TEST(LedgerUpgrade, BudgetsOfVersion3AreForRows) {
  const TemporaryFolder folder;
  const std::string path = ledger_of_version3(folder);
  EXPECT_EQ(Ledger::open_to_read(path).states().at(0).data.unit, "");
  EXPECT_EQ(behind_the_scenes(path).integer("PRAGMA user_version"), 3);
  Ledger ledger(path);
  EXPECT_EQ(behind_the_scenes(path).integer("PRAGMA user_version"), 4);
  EXPECT_TRUE(ledger.reserve({.data_hash = kHash, .budget = {0.5, 0}, .what = "by rows"}));
  EXPECT_THROW(std::ignore = ledger.reserve(
                   {.data_hash = kHash, .budget = {0.25, 0}, .what = "by units", .unit = "patient"}),
               InputError);
}

// The older program writes no unit.
TEST(LedgerUpgrade, AProgramOfVersion3CannotSpendABudgetForUnitsByRows) {
  const TemporaryFolder folder;
  const std::string path = ledger_of_version3(folder);
  sqlite::Database older = behind_the_scenes(path);
  Ledger ledger(path);
  ledger.add({.hash = "ffff", .name = "patients", .total = {1, 0}, .unit = "patient"});
  const std::string insert =
      "INSERT INTO runs (data_hash, what, reserved_epsilon, reserved_delta, charged_epsilon, charged_delta)"
      " VALUES ('" +
      ledger.fingerprint("ffff") + "', 'old', '1', '0', '1', '0')";
  EXPECT_ANY_THROW(older.execute(insert.c_str()));
  EXPECT_EQ(ledger.state("ffff").spent.epsilon, 0);
}

TEST(LedgerUpgrade, AVersionBeforeTheFirstIsRefused) {
  const TemporaryFolder folder;
  const std::string path = old_ledger(folder);
  behind_the_scenes(path).execute("PRAGMA user_version = 0");
  EXPECT_THAT(message_of<InputError>([&] { Ledger{path}; }), HasSubstr("has version 0"));
}

TEST(LedgerUpgrade, EightProcessesUpgradeOneLedgerAtOnce) {
  const TemporaryFolder folder;
  const std::string path = old_ledger(folder);
  std::vector<std::unique_ptr<ForkedChild>> children;
  for (int i = 0; i < 8; ++i) {
    children.push_back(
        std::make_unique<ForkedChild>([&](const auto& report) { report(Ledger(path).runs().size()); }));
  }
  for (const auto& child : children) EXPECT_EQ(child->words().at(0), 2u);
  expect_whole(path);
}

TEST(LedgerUpgrade, KilledInTheMiddleItIsOldOrNewAndOpens) {
  std::mt19937_64 random(5);
  for (int kill = 0; kill < 30; ++kill) {
    const TemporaryFolder folder;
    const std::string path = old_ledger(folder);
    ForkedChild child([&](const auto&) { const Ledger upgraded(path); });
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 12'000));
    child.kill();
    child.words();
    { const Ledger again(path); }
    expect_whole(path);
  }
}

}  // namespace
}  // namespace ration::testing
