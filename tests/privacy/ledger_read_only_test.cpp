// Looking at a ledger that may not be written.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <set>

#include "privacy/ledgers.h"
#include "ration/base/error.h"
#include "support/forked.h"

namespace ration::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;

constexpr fs::perms kNobodyWrites = fs::perms::owner_read | fs::perms::owner_exec | fs::perms::group_read |
                                    fs::perms::group_exec | fs::perms::others_read | fs::perms::others_exec;

// Root may write everything, whatever the file says.
void stop_being_root() {
  constexpr unsigned kNobody = 65534;
  if (geteuid() == 0 && (setgid(kNobody) != 0 || setuid(kNobody) != 0))
    throw std::runtime_error("cannot become nobody");
}

class LedgerToRead : public ::testing::Test {
 protected:
  LedgerToRead() {
    Ledger ledger(path_);
    ledger.reserve({.data_hash = kHash, .budget = {0.25, 0}, .what = "first"})->leave_open();
  }
  ~LedgerToRead() override { fs::permissions(folder_.path(), fs::perms::owner_all); }

  void forbid_writing() const {
    for (const auto& entry : fs::directory_iterator(folder_.path()))
      fs::permissions(entry.path(), fs::perms::owner_read | fs::perms::group_read | fs::perms::others_read);
    fs::permissions(folder_.path(), kNobodyWrites);
  }
  std::set<std::string> files() const {
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_.path())) names.insert(entry.path().filename());
    return names;
  }
  // The number of runs and a thousand times the epsilon left, read by somebody who may not write; or the
  // words of the refusal are "not in it yet" (1) or others (2).
  std::vector<std::uint64_t> seen_by_nobody() const {
    return in_child([&]() -> std::vector<std::uint64_t> {
      stop_being_root();
      if (access(path_.c_str(), W_OK) == 0) return {0};
      try {
        const Ledger ledger = Ledger::open_to_read(path_);
        return {ledger.runs().size(),
                static_cast<std::uint64_t>(1000 * ledger.states().at(0).remaining.epsilon)};
      } catch (const InputError& error) {
        return {std::string(error.what()).find("not in it yet") != std::string::npos ? 101u : 102u};
      }
    });
  }

  TemporaryFolder folder_;
  std::string path_ = new_ledger(folder_, {1, 1e-6});
};

TEST_F(LedgerToRead, AFileAndAFolderThatMayNotBeWrittenWillDo) {
  forbid_writing();
  EXPECT_THAT(seen_by_nobody(), ElementsAre(1, 750));
  EXPECT_THAT(files(), ElementsAre("budget.db"));
}

// What the log holds is charged too: an answer without it would be wrong.
TEST_F(LedgerToRead, WhileAnotherProcessIsAtWorkItsChargesAreSeen) {
  Ledger at_work(path_);
  auto run = at_work.reserve({.data_hash = kHash, .budget = {0.5, 0}, .what = "second"});
  ASSERT_THAT(files(), IsSupersetOf({"budget.db-wal", "budget.db-shm"}));
  forbid_writing();
  EXPECT_THAT(seen_by_nobody(), ElementsAre(2, 250));
  run->leave_open();
}

// A copy that was made with its log, or what a crash has left, in a place that may not be written.
TEST_F(LedgerToRead, ALogThatCannotBeReadIsNotIgnored) {
  const TemporaryFolder copy;
  {
    Ledger at_work(path_);
    at_work.reserve({.data_hash = kHash, .budget = {0.5, 0}, .what = "second"})->leave_open();
    for (const char* const name : {"budget.db", "budget.db-wal"}) {
      fs::copy_file(folder_.path() + "/" + name, copy.path() + "/" + name);
      fs::permissions(copy.path() + "/" + name, fs::perms::owner_read | fs::perms::others_read);
    }
  }
  fs::permissions(copy.path(), kNobodyWrites);
  path_ = copy.path() + "/budget.db";
  EXPECT_THAT(seen_by_nobody(), ElementsAre(101));
  fs::permissions(copy.path(), fs::perms::owner_all);
}

TEST_F(LedgerToRead, AnEmptyLogWillDo) {
  folder_.write("budget.db-wal", "");
  forbid_writing();
  EXPECT_THAT(seen_by_nobody(), ElementsAre(1, 750));
}

// Also for who may write: no file is left beside it, and an older one stays as it is (ledger_upgrade_test).
TEST_F(LedgerToRead, LookingChangesNothing) {
  const std::string before = read_whole_file(path_);
  {
    const Ledger ledger = Ledger::open_to_read(path_);
    EXPECT_EQ(ledger.states().at(0).remaining.epsilon, 0.75);
    EXPECT_EQ(ledger.state(kHash).remaining.epsilon, 0.75);
    EXPECT_EQ(ledger.runs().size(), 1u);
    EXPECT_TRUE(ledger.knows(kHash));
  }
  EXPECT_EQ(read_whole_file(path_), before);
  EXPECT_THAT(files(), ElementsAre("budget.db"));
}

TEST_F(LedgerToRead, NamesAreNotTakenForMoreThanNames) {
  for (const char* const name : {"a b?mode=rwc#x.db", "50%.db", "ä.db"}) {
    const std::string path = folder_.path() + "/" + name;
    fs::copy_file(path_, path);
    sqlite::Database database(path, sqlite::Database::Open::to_read);
    EXPECT_EQ(database.integer("SELECT count(*) FROM runs"), 1) << name;
  }
}

TEST_F(LedgerToRead, WhatIsNoLedgerIsRefusedAsEver) {
  const auto complaint = [](const std::string& path) {
    return message_of<InputError>([&] { sqlite::Database(path, sqlite::Database::Open::to_read); }) +
           message_of<InputError>([&] { Ledger::open_to_read(path); });
  };
  EXPECT_THAT(complaint(folder_.path() + "/none.db"), HasSubstr("No such file"));
  EXPECT_THAT(complaint(folder_.path()), HasSubstr("it is a folder"));
  EXPECT_THAT(complaint(folder_.write("text.db", std::string(5000, 'x'))), HasSubstr("not a ledger"));
  EXPECT_THAT(complaint(folder_.write("empty.db", "")), HasSubstr("it is empty"));
}

}  // namespace
}  // namespace ration::testing
