#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <future>
#include <set>
#include <thread>

#include "privacy/ledgers.h"
#include "ration/base/error.h"
#include "support/forked.h"

namespace ration::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;

using Tokens = std::vector<std::string>;

// A position that misses a digit by chance: probability < 1e-24.
TEST(HolderToken, IsThirtyTwoDigitsThatDoNotRepeat) {
  std::set<std::string> tokens;
  std::array<std::set<char>, 32> digits;
  for (int i = 0; i < 1000; ++i) {
    const std::string token = new_holder_token();
    ASSERT_THAT(token, MatchesRegex("[0-9a-f]{32}"));
    for (std::size_t at = 0; at < 32; ++at) digits[at].insert(token[at]);
    tokens.insert(token);
  }
  EXPECT_EQ(tokens.size(), 1000u);
  for (const auto& seen : digits) EXPECT_EQ(seen.size(), 16u);
}

class LedgerReattach : public ::testing::Test {
 protected:
  Reservation reserve() { return *ledger_.reserve(request_); }

  std::optional<Reservation> reattach(const Tokens& known, const std::string& next = new_holder_token()) {
    return ledger_.reattach(run_.run(), kHash, known, next);
  }

  // How it was refused; a refusal changes nothing.
  std::string refusal(std::int64_t run, const std::string& hash, const Tokens& known,
                      const std::string& next = new_holder_token()) {
    const std::string before = whole_table();
    std::string message =
        message_of<InputError>([&] { std::ignore = ledger_.reattach(run, hash, known, next); });
    EXPECT_EQ(whole_table(), before);
    return message;
  }

  std::string whole_table() const {
    return behind_the_scenes(path_).text(
        "SELECT group_concat(id || '|' || status || '|' || holder || '|' || charged_epsilon || '|' ||"
        " charged_delta || '|' || stated_epsilon || '|' || ended) FROM runs");
  }

  double left() const { return ledger_.state(kHash).remaining.epsilon; }
  RunStatus status() const { return ledger_.runs().at(0).status; }

  TemporaryFolder folder_;
  std::string path_ = new_ledger(folder_, {1, 1e-6});
  Ledger ledger_{path_};
  RunRequest request_{.data_hash = kHash, .budget = {0.5, 5e-7}, .what = "a run"};
  Reservation run_ = reserve();
  std::string token_ = run_.holder();
};

TEST_F(LedgerReattach, EveryReservationHasItsOwnTokenAndTheLedgerKnowsIt) {
  const Reservation other = reserve();
  EXPECT_THAT(token_, MatchesRegex("[0-9a-f]{32}"));
  EXPECT_NE(other.holder(), token_);
  sqlite::Database database = behind_the_scenes(path_);
  EXPECT_EQ(database.text("SELECT holder FROM runs WHERE id = 1"), token_);
  EXPECT_EQ(database.text("SELECT holder FROM runs WHERE id = 2"), other.holder());
}

TEST_F(LedgerReattach, ARunLeftOpenStaysOpenAndChargedInFull) {
  {
    Reservation stopped = std::move(run_);
    stopped.leave_open();
    EXPECT_THROW(stopped.settle({0.1, 0}, SpendingBy::plan), InternalError);
  }
  EXPECT_EQ(status(), RunStatus::open);
  EXPECT_EQ(ledger_.runs().at(0).ended, "");
  EXPECT_EQ(left(), 0.5);
}

TEST_F(LedgerReattach, AResumedRunIsTheSameRunWithANewHolderAndSettles) {
  run_.leave_open();
  const std::string next = new_holder_token();
  auto resumed = reattach({token_}, next);
  ASSERT_TRUE(resumed.has_value());
  EXPECT_EQ(resumed->run(), run_.run());
  EXPECT_EQ(resumed->budget().epsilon, 0.5);
  EXPECT_EQ(resumed->budget().delta, 5e-7);
  EXPECT_EQ(resumed->holder(), next);
  EXPECT_EQ(left(), 0.5);
  resumed->settle({0.2, 5e-7}, SpendingBy::plan);
  EXPECT_EQ(left(), 0.8);
  EXPECT_EQ(status(), RunStatus::settled);
  EXPECT_EQ(ledger_.runs().size(), 1u);
}

// Amounts with digits below the ledger's last place: the charge is the reserved one to the last digit.
TEST_F(LedgerReattach, AResumedRunThatChoseByItsOutputsGivesNothingBack) {
  request_.budget = {1.0 / 3, 1e-17 / 3};
  auto run = ledger_.reserve(request_);
  run->leave_open();
  const Tokens known{run->holder()};
  auto resumed = ledger_.reattach(run->run(), kHash, known, new_holder_token());
  EXPECT_GE(resumed->budget().epsilon, request_.budget.epsilon);
  EXPECT_GE(resumed->budget().delta, request_.budget.delta);
  resumed->settle({0.1, 1e-18}, SpendingBy::outputs);
  EXPECT_EQ(behind_the_scenes(path_).text("SELECT reserved_epsilon || ' ' || reserved_delta ="
                                          " charged_epsilon || ' ' || charged_delta FROM runs WHERE id = 2"),
            "1");
}

TEST_F(LedgerReattach, AResumedRunThatFailsIsAbandoned) {
  run_.leave_open();
  reattach({token_}).reset();
  EXPECT_EQ(status(), RunStatus::abandoned);
  EXPECT_EQ(left(), 0.5);
}

TEST_F(LedgerReattach, OfTwoCopiesOneIsResumed) {
  run_.leave_open();
  const auto first = reattach({token_});
  ASSERT_TRUE(first.has_value());
  const std::string before = whole_table();
  EXPECT_FALSE(reattach({token_}).has_value());
  EXPECT_FALSE(reattach({token_, new_holder_token()}).has_value());
  EXPECT_FALSE(reattach({}).has_value());
  EXPECT_EQ(whole_table(), before);
}

TEST_F(LedgerReattach, TheTokensOfEarlierAttemptsAreGoodToo) {
  run_.leave_open();
  const std::string pending = new_holder_token();
  reattach({token_}, pending)->leave_open();  // and killed before it was the checkpoint's only token
  const std::string never_swapped = new_holder_token();  // a second attempt, killed before it swapped
  EXPECT_FALSE(reattach({token_, never_swapped}).has_value()) << "no token may be dropped before step 3";
  EXPECT_TRUE(reattach({token_, pending, never_swapped}).has_value());
}

TEST_F(LedgerReattach, TheFormerHolderCanChangeNothing) {
  auto second = reattach({token_});
  ASSERT_TRUE(second.has_value());
  const std::string before = whole_table();
  {
    Reservation former = std::move(run_);
    EXPECT_THAT(message_of<InternalError>([&] {
                  former.settle({0.1, 0}, SpendingBy::plan);
                }),
                HasSubstr("run 1 cannot be settled: it is not open, or another process has taken it over"));
    EXPECT_EQ(whole_table(), before);
  }
  EXPECT_EQ(whole_table(), before);
  second->settle({0.2, 0}, SpendingBy::plan);
  EXPECT_EQ(left(), 0.8);
}

// A token for every checkpoint, as the ledger's comment asks for.
TEST_F(LedgerReattach, ATokenPerCheckpointFencesEarlierCheckpointsAndLivingProcesses) {
  Tokens tokens{token_};
  std::optional<Reservation> attached = std::move(run_);
  for (int checkpoint = 0; checkpoint < 3; ++checkpoint) {
    auto next = reattach({tokens.back()});
    ASSERT_TRUE(next.has_value());
    attached.emplace(std::move(*next));
    tokens.push_back(attached->holder());
    EXPECT_EQ(status(), RunStatus::open);
  }
  for (std::size_t i = 0; i + 1 < tokens.size(); ++i) EXPECT_FALSE(reattach({tokens[i]}).has_value());
  const auto copy = reattach({tokens.back()});
  EXPECT_TRUE(copy.has_value());
  EXPECT_FALSE(reattach({attached->holder()}).has_value());
}

TEST_F(LedgerReattach, OnlyAnOpenRunOnTheSameDataCanBeResumed) {
  ledger_.add({.hash = "other", .name = "b", .total = {1, 0}});
  run_.leave_open();
  EXPECT_THAT(refusal(7, kHash, {token_}), HasSubstr("budget.db: there is no run 7"));
  for (const char* hash : {"other", "unknown"}) {
    EXPECT_THAT(refusal(1, hash, {token_}),
                HasSubstr("run 1 cannot be resumed: it is a run on the data set " +
                          ledger_.fingerprint(kHash).substr(0, 12) + ", not on "));
  }
  const std::string abandoned = reserve().holder();
  EXPECT_THAT(refusal(2, kHash, {abandoned}), HasSubstr("run 2 cannot be resumed: it is abandoned"));
  auto resumed = reattach({token_});
  const std::string settled = resumed->holder();
  resumed->settle({0.1, 0}, SpendingBy::plan);
  EXPECT_THAT(refusal(1, kHash, {settled}), HasSubstr("run 1 cannot be resumed: it is settled"));
}

TEST_F(LedgerReattach, TheNextTokenMustBeNew) {
  const std::string shared = new_holder_token();
  EXPECT_THAT(refusal(1, kHash, {token_, shared}, shared), HasSubstr("the next token must be new"));
  EXPECT_THAT(refusal(1, kHash, {token_}, token_), HasSubstr("the next token must be new"));
}

TEST_F(LedgerReattach, WhatIsNoTokenIsRefusedAndNotRepeated) {
  const std::string digits(31, '7');
  for (const std::string& bad : {std::string(), digits, digits + "77", digits + "A", digits + "g"}) {
    for (const std::string& message : {refusal(1, kHash, {token_, bad}), refusal(1, kHash, {token_}, bad)}) {
      EXPECT_THAT(message, HasSubstr("expected a token of 32 hexadecimal digits, got ")) << bad;
      EXPECT_THAT(message, Not(HasSubstr("777"))) << bad;
    }
  }
}

TEST_F(LedgerReattach, ComparesAndSwapsInOneTransaction) {
  sqlite::Database other = behind_the_scenes(path_);
  sqlite::ImmediateTransaction in_the_way(other);
  auto late = std::async(std::launch::async, [&] { return reattach({token_}).has_value(); });
  std::this_thread::sleep_for(std::chrono::milliseconds(300));  // it waits, or has looked too early
  other.execute("UPDATE runs SET holder = '00000000000000000000000000000000' WHERE id = 1");
  in_the_way.commit();
  EXPECT_FALSE(late.get());
}

TEST_F(LedgerReattach, AForkedChildMustOpenTheLedgerAgain) {
  const auto told = in_child([&]() -> std::vector<std::uint64_t> {
    const bool refused = !message_of<InternalError>([&] { std::ignore = reattach({token_}); }).empty();
    run_.leave_open();  // the child's copy only
    return {refused};
  });
  EXPECT_EQ(told.at(0), 1u);
  run_.settle({0.1, 0}, SpendingBy::plan);
  EXPECT_EQ(left(), 0.9);
}

}  // namespace
}  // namespace ration::testing
