#include "ration/privacy/ledger.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <filesystem>

#include "base/hash.h"
#include "privacy/ledgers.h"
#include "ration/base/error.h"

namespace ration::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

RunRequest asking(double epsilon, double delta = 0) {
  return {.data_hash = kHash, .budget = {epsilon, delta}, .what = "a run"};
}

class LedgerTest : public ::testing::Test {
 protected:
  LedgerTest() { ledger_.add({.hash = kHash, .name = "adult", .total = {1, 1e-6}}); }

  Budget left() const { return ledger_.state(kHash).remaining; }

  TemporaryFolder folder_;
  std::string path_ = folder_.path() + "/budget.db";
  Ledger ledger_ = Ledger::open_or_create(path_);
};

TEST_F(LedgerTest, ANewDataSetHasAllItsBudget) {
  const LedgerState state = ledger_.state(kHash);
  EXPECT_EQ(state.data.name, "adult");
  EXPECT_EQ(state.data.relation, Relation::add_remove);
  EXPECT_EQ(state.remaining.epsilon, 1);
  EXPECT_EQ(state.remaining.delta, 1e-6);
  EXPECT_EQ(state.spent.epsilon, 0);
  EXPECT_EQ(state.runs, 0);
}

TEST_F(LedgerTest, AReservationIsChargedAtOnceAndOutlivesTheLedger) {
  const auto run = ledger_.reserve(asking(0.25, 1e-7));
  ASSERT_TRUE(run.has_value());
  const Ledger second(path_);
  EXPECT_EQ(second.state(kHash).remaining.epsilon, 0.75);
  EXPECT_EQ(second.state(kHash).remaining.delta, 9e-7);
  EXPECT_EQ(second.runs().at(0).status, RunStatus::open);
}

TEST_F(LedgerTest, TenTenthsFitAndNoMore) {
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(ledger_.reserve(asking(0.1, 1e-7)).has_value()) << i;
  EXPECT_EQ(left().epsilon, 0);
  EXPECT_EQ(left().delta, 0);
  EXPECT_FALSE(ledger_.reserve(asking(1e-12)).has_value());
  EXPECT_EQ(ledger_.runs().size(), 10u);
}

TEST_F(LedgerTest, ARefusalSaysWhatIsLeftAndChangesNothing) {
  ASSERT_TRUE(ledger_.reserve(asking(0.7)).has_value());
  Budget remaining{};
  EXPECT_FALSE(ledger_.reserve(asking(0.4), &remaining).has_value());
  EXPECT_EQ(remaining.epsilon, 0.3);
  EXPECT_EQ(remaining.delta, 1e-6);
  EXPECT_TRUE(ledger_.reserve(asking(remaining.epsilon, remaining.delta)).has_value());
}

TEST_F(LedgerTest, DeltaIsABudgetToo) {
  EXPECT_FALSE(ledger_.reserve(asking(0.1, 1.1e-6)).has_value());
  EXPECT_TRUE(ledger_.reserve(asking(0.1, 1e-6)).has_value());
  EXPECT_FALSE(ledger_.reserve(asking(0.1, 1e-20)).has_value());
  EXPECT_TRUE(ledger_.reserve(asking(0.1)).has_value());
}

TEST_F(LedgerTest, AFixedPlanGivesBackWhatItDidNotNeed) {
  auto run = ledger_.reserve(asking(0.5, 5e-7));
  run->settle({0.2, 5e-7}, SpendingBy::plan);
  EXPECT_EQ(left().epsilon, 0.8);
  EXPECT_EQ(left().delta, 5e-7);
  EXPECT_EQ(ledger_.runs().at(0).status, RunStatus::settled);
}

TEST_F(LedgerTest, ARunThatChoseByItsOutputsGivesNothingBack) {
  auto run = ledger_.reserve(asking(0.5, 5e-7));
  run->settle({0.2, 5e-7}, SpendingBy::outputs);
  EXPECT_EQ(left().epsilon, 0.5);
  EXPECT_EQ(left().delta, 5e-7);
  EXPECT_EQ(ledger_.runs().at(0).charged.epsilon, 0.5);
  EXPECT_EQ(ledger_.runs().at(0).stated.epsilon, 0.2);
}

TEST_F(LedgerTest, ARunThatReleasedNothingGivesAllBack) {
  ledger_.reserve(asking(0.5, 5e-7))->settle({0, 0}, SpendingBy::outputs);
  ledger_.reserve(asking(0.5, 5e-7))->settle({0, 0}, SpendingBy::plan);
  EXPECT_EQ(left().epsilon, 1);
  EXPECT_EQ(left().delta, 1e-6);
}

TEST_F(LedgerTest, SpendingMoreThanReservedIsOurFailureAndStaysCharged) {
  {
    auto run = ledger_.reserve(asking(0.5, 5e-7));
    EXPECT_THROW(run->settle({0.5 + 1e-15, 0}, SpendingBy::plan), InternalError);
    EXPECT_THROW(run->settle({0.1, 6e-7}, SpendingBy::plan), InternalError);
    EXPECT_THROW(run->settle({-0.1, 0}, SpendingBy::plan), InputError);
  }
  EXPECT_EQ(left().epsilon, 0.5);
  EXPECT_EQ(ledger_.runs().at(0).status, RunStatus::abandoned);
}

TEST_F(LedgerTest, SettlesOnce) {
  auto run = ledger_.reserve(asking(0.5));
  run->settle({0.4, 0}, SpendingBy::plan);
  EXPECT_THROW(run->settle({0, 0}, SpendingBy::plan), InternalError);
  EXPECT_EQ(left().epsilon, 0.6);
}

TEST_F(LedgerTest, AnUnsettledReservationIsAbandonedAndStaysCharged) {
  { const auto run = ledger_.reserve(asking(0.5, 1e-7)); }
  EXPECT_EQ(ledger_.runs().at(0).status, RunStatus::abandoned);
  EXPECT_NE(ledger_.runs().at(0).ended, "");
  EXPECT_EQ(left().epsilon, 0.5);
}

TEST_F(LedgerTest, AMovedReservationIsOneReservation) {
  auto first = ledger_.reserve(asking(0.5));
  Reservation second = std::move(*first);
  first.reset();
  EXPECT_EQ(ledger_.runs().at(0).status, RunStatus::open);
  second.settle({0.1, 0}, SpendingBy::plan);
  EXPECT_EQ(left().epsilon, 0.9);
}

TEST_F(LedgerTest, AnotherRelationIsRefused) {
  RunRequest request = asking(0.1);
  request.relation = Relation::replace_one;
  EXPECT_THAT(message_of<InputError>([&] { std::ignore = ledger_.reserve(request); }),
              HasSubstr("is for relation add_remove, the run is for replace_one"));
  EXPECT_THAT(ledger_.runs(), IsEmpty());
}

TEST_F(LedgerTest, AnUnknownDataSetIsRefusedAndTheKnownAreListed) {
  RunRequest request = asking(0.1);
  request.data_hash = "ffff";
  EXPECT_THAT(message_of<InputError>([&] { std::ignore = ledger_.reserve(request); }),
              HasSubstr("no budget for the data set " + ledger_.fingerprint("ffff").substr(0, 12) +
                        "; it has 'adult' (" + ledger_.fingerprint(kHash).substr(0, 12) + ")"));
}

TEST_F(LedgerTest, ABudgetIsSetOnce) {
  EXPECT_THAT(message_of<InputError>([&] {
                ledger_.add({.hash = kHash, .name = "again", .total = {9, 0.1}});
              }),
              HasSubstr("has a budget already: 'adult', epsilon 1, delta 1e-06"));
  EXPECT_EQ(left().epsilon, 1);
}

TEST_F(LedgerTest, DataSetsDoNotShare) {
  ledger_.add({.hash = "other", .name = "bank", .relation = Relation::replace_one, .total = {2, 0}});
  ASSERT_TRUE(ledger_.reserve(asking(1)).has_value());
  ASSERT_EQ(ledger_.states().size(), 2u);
  EXPECT_EQ(ledger_.states()[0].remaining.epsilon, 0);
  EXPECT_EQ(ledger_.states()[1].remaining.epsilon, 2);
  EXPECT_EQ(ledger_.states()[1].data.relation, Relation::replace_one);
}

TEST_F(LedgerTest, ValuesAreValidated) {
  for (const Budget bad :
       {Budget{0, 0}, {-1, 0}, {1e7, 0}, {1, 1}, {1, -1e-9}, {std::nan(""), 0}, {1, std::nan("")}}) {
    EXPECT_THROW(std::ignore = ledger_.reserve(asking(bad.epsilon, bad.delta)), InputError);
    EXPECT_THROW(ledger_.add({.hash = "x", .name = "x", .total = bad}), InputError);
  }
  for (const std::string& bad :
       {std::string(), std::string("a\nb"), std::string("\x1b[2J"), std::string(201, 'x')}) {
    EXPECT_THROW(ledger_.add({.hash = "x", .name = bad, .total = {1, 0}}), InputError);
    EXPECT_THROW(ledger_.add({.hash = bad, .name = "x", .total = {1, 0}}), InputError);
  }
  EXPECT_THROW(ledger_.add({.hash = "a b", .name = "x", .total = {1, 0}}), InputError);
}

TEST_F(LedgerTest, CommitsGoToTheDiskThroughAWriteAheadLog) {
  sqlite::Database database = behind_the_scenes(path_);
  EXPECT_EQ(database.text("PRAGMA journal_mode"), "wal");
  database.use_write_ahead_log();
  EXPECT_EQ(database.integer("PRAGMA synchronous"), 2);  // FULL
}

// Files that are not what they should be.

TEST(LedgerFile, MustExistUnlessItIsMade) {
  const TemporaryFolder folder;
  EXPECT_THAT(message_of<InputError>([&] { Ledger(folder.path() + "/none.db"); }), HasSubstr("No such file"));
  EXPECT_FALSE(std::filesystem::exists(folder.path() + "/none.db"));
  EXPECT_THAT(message_of<InputError>([&] { Ledger(folder.path().c_str()); }), HasSubstr("it is a folder"));
  EXPECT_THAT(message_of<InputError>([&] { Ledger::open_or_create(folder.path() + "/no/a.db"); }),
              HasSubstr("No such file"));
}

TEST(LedgerFile, MustBeALedger) {
  const TemporaryFolder folder;
  const std::string text = folder.write("text.db", std::string(5000, 'x'));
  EXPECT_THAT(message_of<InputError>([&] { Ledger{text}; }), HasSubstr("text.db: not a ledger"));
  EXPECT_THAT(message_of<InputError>([&] { Ledger::open_or_create(text); }), HasSubstr("not a ledger"));
  EXPECT_EQ(read_whole_file(text), std::string(5000, 'x'));
  const std::string empty = folder.write("empty.db", "");
  EXPECT_THAT(message_of<InputError>([&] { Ledger{empty}; }), HasSubstr("it is empty"));
  const std::string other = folder.path() + "/other.db";
  sqlite::Database(other, sqlite::Database::Open::or_create).execute("CREATE TABLE t (x)");
  EXPECT_THAT(message_of<InputError>([&] { Ledger{other}; }), HasSubstr("some other SQLite file"));
  EXPECT_THAT(message_of<InputError>([&] { Ledger::open_or_create(other); }),
              HasSubstr("some other SQLite file"));
}

TEST(LedgerFile, OfANewerVersionIsRefused) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/a.db";
  Ledger::open_or_create(path).add({.hash = kHash, .name = "a", .total = {1, 0}});
  behind_the_scenes(path).execute("PRAGMA user_version = 5");
  EXPECT_THAT(message_of<InputError>([&] { Ledger{path}; }),
              HasSubstr("has version 5, this program knows versions 1 to 4"));
  EXPECT_THAT(message_of<InputError>([&] { Ledger::open_or_create(path); }), HasSubstr("has version 5"));
}

// --- the unit of privacy

TEST(LedgerUnits, ABudgetForUnitsCannotBeSpentByRowsNorTheReverse) {
  const TemporaryFolder folder;
  Ledger ledger = Ledger::open_or_create(folder.path() + "/a.db");
  ledger.add({.hash = kHash, .name = "visits", .total = {1, 0}, .unit = "patient_id"});
  ledger.add({.hash = "abcd", .name = "rows", .total = {1, 0}});
  const auto ask = [&](const std::string& hash, const std::string& unit) {
    return ledger.reserve({.data_hash = hash, .budget = {0.25, 0}, .what = "a run", .unit = unit});
  };
  EXPECT_THAT(message_of<InputError>([&] { std::ignore = ask(kHash, ""); }),
              HasSubstr("the budget of 'visits' is for each patient_id, the run protects each row"));
  EXPECT_THROW(std::ignore = ask(kHash, "doctor_id"), InputError);
  EXPECT_THROW(std::ignore = ask("abcd", "patient_id"), InputError);
  EXPECT_EQ(ledger.state(kHash).spent.epsilon, 0);
  EXPECT_TRUE(ask(kHash, "patient_id"));
  EXPECT_TRUE(ask("abcd", ""));
  EXPECT_EQ(ledger.state(kHash).data.unit, "patient_id");
}

// --- what stands for the data

std::string whole_text_of(const std::string& path) {
  return read_whole_file(path) + read_whole_file(path + "-wal");
}

// Who sees a fingerprint, or finds it twice, cannot check a guess of the rows.
TEST_F(LedgerTest, AContentHashIsKeptUnderAKeyThatNoOtherLedgerHas) {
  std::ignore = ledger_.reserve(asking(0.5));
  const std::string fingerprint = ledger_.fingerprint(kHash);
  EXPECT_THAT(fingerprint, ::testing::MatchesRegex("[0-9a-f]{64}"));
  EXPECT_EQ(ledger_.states().at(0).data.hash, fingerprint);
  EXPECT_EQ(ledger_.runs().at(0).data_hash, fingerprint);
  EXPECT_EQ(Ledger(path_).fingerprint(kHash), fingerprint);
  EXPECT_THAT(whole_text_of(path_), ::testing::Not(HasSubstr(kHash)));
  const TemporaryFolder elsewhere;
  const Ledger other(new_ledger(elsewhere, {1, 0}));
  EXPECT_NE(other.fingerprint(kHash), fingerprint);
  EXPECT_NE(sha256(kHash), fingerprint);
}

TEST_F(LedgerTest, KnowsWhatHasABudget) {
  EXPECT_TRUE(ledger_.knows(kHash));
  EXPECT_FALSE(ledger_.knows("ffff"));
  EXPECT_FALSE(ledger_.knows(ledger_.fingerprint(kHash))) << "a fingerprint is no content hash";
}

TEST_F(LedgerTest, MarksForOnePurposeSayNothingOfAnother) {
  EXPECT_EQ(ledger_.mark("a", "text"), Ledger(path_).mark("a", "text"));
  EXPECT_NE(ledger_.mark("a", "text"), ledger_.mark("b", "text"));
  EXPECT_NE(ledger_.mark("a", "text"), ledger_.mark("a", "texts"));
}

TEST_F(LedgerTest, WithoutItsKeyItIsDamaged) {
  behind_the_scenes(path_).execute("DELETE FROM secrets");
  EXPECT_THAT(message_of<InputError>([&] { std::ignore = ledger_.reserve(asking(0.1)); }),
              HasSubstr("it has lost its key"));
}

TEST(LedgerFile, TruncatedAnywhereIsRefusedOrWhole) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/a.db";
  {
    Ledger ledger = Ledger::open_or_create(path);
    ledger.add({.hash = kHash, .name = "a", .total = {1, 0}});
    for (int i = 0; i < 60; ++i) std::ignore = ledger.reserve(asking(0.01));
  }
  const std::string whole = read_whole_file(path);
  for (std::size_t size = 1; size < whole.size(); size += 1009) {
    const std::string cut = folder.write("cut.db", whole.substr(0, size));
    EXPECT_THROW(Ledger{cut}, InputError) << size;
  }
}

TEST(LedgerFile, WithAnAmountThatIsNoneIsRefused) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/a.db";
  Ledger ledger = Ledger::open_or_create(path);
  ledger.add({.hash = kHash, .name = "a", .total = {1, 0}});
  std::ignore = ledger.reserve(asking(0.5));
  behind_the_scenes(path).execute("UPDATE runs SET charged_epsilon = '-5'");
  EXPECT_THROW(std::ignore = ledger.reserve(asking(0.1)), InputError);
}

// Random sequences against a model in whole thousandths of epsilon and billionths of delta.
struct Model {
  struct Run {
    int epsilon, delta;
  };
  int epsilon_left = 1000;
  int delta_left = 1000;

  bool reserve(Run run) {
    if (run.epsilon > epsilon_left || run.delta > delta_left) return false;
    epsilon_left -= run.epsilon;
    delta_left -= run.delta;
    return true;
  }
  void give_back(Run reserved, Run spent) {
    epsilon_left += reserved.epsilon - spent.epsilon;
    delta_left += reserved.delta - spent.delta;
  }
};

Budget budget_of(Model::Run run) {
  return {run.epsilon / 1000.0, run.delta / 1e9};
}

struct OpenRun {
  Model::Run amount;
  Reservation reservation;
};

void settle_one(std::vector<OpenRun>& open, Model& model) {
  const auto at = *rc::gen::inRange<std::size_t>(0, open.size());
  OpenRun run = std::move(open[at]);
  const Model::Run spent{*rc::gen::inRange(0, run.amount.epsilon + 1),
                         *rc::gen::inRange(0, run.amount.delta + 1)};
  const SpendingBy by = *rc::gen::element(SpendingBy::plan, SpendingBy::outputs);
  run.reservation.settle(budget_of(spent), by);
  const bool nothing = spent.epsilon == 0 && spent.delta == 0;
  if (by == SpendingBy::plan || nothing) model.give_back(run.amount, spent);
  std::vector<OpenRun> rest;
  for (std::size_t i = 0; i < open.size(); ++i) {
    if (i != at) rest.push_back(std::move(open[i]));
  }
  open.swap(rest);
}

RC_GTEST_PROP(LedgerModel, AnySequenceAgreesWithAModel, ()) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/a.db";
  Ledger ledger = Ledger::open_or_create(path);
  ledger.add({.hash = kHash, .name = "a", .total = {1, 1e-6}});
  Model model;
  std::vector<OpenRun> open;
  const int length = *rc::gen::inRange(1, 25);
  for (int i = 0; i < length; ++i) {
    const int choice = *rc::gen::inRange(0, 10);
    if (choice < 6 || open.empty()) {
      const Model::Run amount{*rc::gen::inRange(1, 400), *rc::gen::inRange(0, 300)};
      const Budget budget = budget_of(amount);
      auto granted = ledger.reserve(asking(budget.epsilon, budget.delta));
      RC_ASSERT(granted.has_value() == model.reserve(amount));
      if (granted) open.push_back({amount, std::move(*granted)});
    } else if (choice < 9) {
      settle_one(open, model);
    } else {
      open.pop_back();  // abandoned: stays charged
    }
    const Budget left = ledger.state(kHash).remaining;
    RC_ASSERT(left.epsilon == model.epsilon_left / 1000.0);
    RC_ASSERT(left.delta == model.delta_left / 1e9);
  }
  open.clear();
  RC_ASSERT(Ledger(path).state(kHash).remaining.epsilon == model.epsilon_left / 1000.0);
}

}  // namespace
}  // namespace ration::testing
