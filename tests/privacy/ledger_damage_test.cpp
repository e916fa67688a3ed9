// Ledgers that are not what they say, as fuzz/ledger.cpp found them: refused by the file's name, in one line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "privacy/ledgers.h"
#include "ration/base/error.h"

namespace ration::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class DamagedLedger : public ::testing::Test {
 protected:
  // What looking at the ledger, and then charging it, says once this was done to it.
  std::string after(const char* damage) {
    const auto database = std::make_unique<sqlite::Database>(path_, sqlite::Database::Open::existing);
    database->execute("PRAGMA ignore_check_constraints = ON");
    database->execute(damage);
    return complaint();
  }
  std::string complaint() {
    const std::string looking = message_of<InputError>([&] {
      const Ledger ledger = Ledger::open_to_read(path_);
      ledger.states();
      ledger.runs();
    });
    const std::string charging = message_of<InputError>([&] {
      Ledger ledger(path_);
      (void)ledger.reserve({.data_hash = kHash, .budget = {0.1, 0}, .what = "a run"});
      ledger.runs();
    });
    EXPECT_THAT(looking, StartsWith(path_));
    EXPECT_THAT(charging, StartsWith(path_));
    EXPECT_EQ(looking.find_first_of("\n\x1b"), looking.npos) << looking;
    return looking;
  }

  TemporaryFolder folder_;
  std::string path_ = new_ledger(folder_, {1, 1e-6});
};

TEST_F(DamagedLedger, WithoutATable) {
  EXPECT_THAT(after("DROP TABLE runs"), HasSubstr("the ledger is damaged (no such table: runs)"));
}

TEST_F(DamagedLedger, WithoutAColumn) {
  EXPECT_THAT(after("ALTER TABLE runs RENAME COLUMN what TO other"), HasSubstr("the ledger is damaged"));
}

TEST_F(DamagedLedger, WithARelationThatThereIsNot) {
  EXPECT_THAT(after("UPDATE data_sets SET relation = 'friends'"), HasSubstr("the ledger is damaged"));
}

TEST_F(DamagedLedger, WithAnAmountThatIsNone) {
  EXPECT_THAT(after("UPDATE data_sets SET epsilon = 'much' || char(10)"),
              HasSubstr("expected a decimal amount, got 'much\\x0A'"));
}

TEST_F(DamagedLedger, WithTextThatWouldWriteToATerminal) {
  EXPECT_THAT(after("UPDATE data_sets SET name = char(27) || '[2J'"),
              AllOf(HasSubstr("expected a text on one line, got '\\x1B[2J'"), Not(HasSubstr("\x1b"))));
}

TEST_F(DamagedLedger, ThatIsCutOff) {
  const auto whole = std::filesystem::file_size(path_);
  std::filesystem::remove(path_ + "-wal");
  std::filesystem::remove(path_ + "-shm");
  std::filesystem::resize_file(path_, whole / 2);
  EXPECT_THAT(complaint(), HasSubstr("the ledger is damaged"));
}

}  // namespace
}  // namespace ration::testing
