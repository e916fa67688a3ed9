#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <map>
#include <memory>
#include <random>
#include <thread>

#include "privacy/ledgers.h"
#include "ration/base/error.h"
#include "support/forked.h"

namespace ration::testing {
namespace {

constexpr double kMillion = 1e6;  // amounts are whole millionths, so that the test adds up exactly

RunRequest asking(std::uint64_t millionths, std::uint64_t delta_billionths = 0) {
  return {.data_hash = kHash,
          .budget = {static_cast<double>(millionths) / kMillion, static_cast<double>(delta_billionths) / 1e9},
          .what = "a run"};
}

std::uint64_t millionths_of(double epsilon) {
  return static_cast<std::uint64_t>(std::llround(epsilon * kMillion));
}

std::uint64_t charged_in(const Ledger& ledger) {
  std::uint64_t sum = 0;
  for (const LedgerRun& run : ledger.runs()) sum += millionths_of(run.charged.epsilon);
  return sum;
}

// Killed in the middle.

// What a child says about a run, in the order it says it.
enum Said : std::uint64_t { kReserved = 1, kSettling, kSettled };

struct Story {
  Said last = kReserved;
  std::uint64_t reserved = 0;
  std::uint64_t spent = 0;
};

void reserve_and_settle_for_ever(const std::string& path, std::uint64_t seed,
                                 const ForkedChild::Report& report) {
  std::mt19937_64 random(seed);
  for (;;) {
    Ledger ledger(path);
    for (int i = 0; i < 5; ++i) {
      const std::uint64_t amount = 1 + random() % 4000;
      auto run = ledger.reserve(asking(amount));
      if (!run) continue;
      const auto id = static_cast<std::uint64_t>(run->run());
      for (const std::uint64_t word : {std::uint64_t{kReserved}, id, amount}) report(word);
      const std::uint64_t spent = random() % (amount + 1);
      for (const std::uint64_t word : {std::uint64_t{kSettling}, id, spent}) report(word);
      run->settle({static_cast<double>(spent) / kMillion, 0}, SpendingBy::plan);
      for (const std::uint64_t word : {std::uint64_t{kSettled}, id, spent}) report(word);
    }
  }
}

void read_stories(const std::vector<std::uint64_t>& words, std::map<std::uint64_t, Story>& stories) {
  for (std::size_t i = 0; i + 2 < words.size(); i += 3) {
    Story& story = stories[words[i + 1]];
    story.last = static_cast<Said>(words[i]);
    (story.last == kReserved ? story.reserved : story.spent) = words[i + 2];
  }
}

// Whatever a child was told is in the ledger; what it was about to be told may be.
void expect_agreement(const Story& story, const LedgerRun& run) {
  const std::uint64_t charged = millionths_of(run.charged.epsilon);
  EXPECT_EQ(millionths_of(run.reserved.epsilon), story.reserved) << run.id;
  if (story.last == kReserved) {
    EXPECT_EQ(run.status, RunStatus::open) << run.id;
  }
  if (story.last == kSettled) {
    EXPECT_EQ(run.status, RunStatus::settled) << run.id;
  }
  EXPECT_EQ(charged, run.status == RunStatus::settled ? story.spent : story.reserved) << run.id;
}

TEST(LedgerFaults, KilledAtFiftyRandomMomentsItNeverForgetsACharge) {
  const TemporaryFolder folder;
  const std::string path = new_ledger(folder, {0.25, 1e-6});
  std::map<std::uint64_t, Story> stories;
  std::mt19937_64 random(20260101);
  for (int kill = 0; kill < 50; ++kill) {
    ForkedChild child([&](const auto& report) { reserve_and_settle_for_ever(path, 1000 + kill, report); });
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 60'000));
    child.kill();
    read_stories(child.words(), stories);

    ASSERT_EQ(integrity_of(path), "ok");
    const Ledger ledger(path);
    ASSERT_LE(charged_in(ledger), 250'000u);
    ASSERT_EQ(millionths_of(ledger.state(kHash).remaining.epsilon), 250'000u - charged_in(ledger));
    std::size_t known = 0;
    for (const LedgerRun& run : ledger.runs()) {
      const auto story = stories.find(static_cast<std::uint64_t>(run.id));
      if (story == stories.end()) {
        ASSERT_EQ(run.charged.epsilon, run.reserved.epsilon)
            << run.id;  // committed, but killed before it said so
        continue;
      }
      ++known;
      expect_agreement(story->second, run);
    }
    ASSERT_EQ(known, stories.size()) << "a run that was granted is not in the ledger";
  }
  EXPECT_GT(stories.size(), 50u);
}

TEST(LedgerFaults, KilledWhileItIsMadeItCanBeMadeAgain) {
  std::mt19937_64 random(7);
  for (int kill = 0; kill < 20; ++kill) {
    const TemporaryFolder folder;
    const std::string path = folder.path() + "/budget.db";
    ForkedChild child([&](const auto&) {
      Ledger::open_or_create(path).add({.hash = kHash, .name = "a", .total = {1, 0}});
    });
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 40'000));
    child.kill();
    child.words();
    Ledger ledger = Ledger::open_or_create(path);
    if (ledger.states().empty()) ledger.add({.hash = kHash, .name = "a", .total = {1, 0}});
    EXPECT_EQ(ledger.state(kHash).remaining.epsilon, 1);
    EXPECT_EQ(integrity_of(path), "ok");
  }
}

// Several at once.

void reserve_until_refused(const std::string& path, std::uint64_t seed, const ForkedChild::Report& report) {
  std::mt19937_64 random(seed);
  Ledger ledger(path);
  for (int refusals = 0; refusals < 5;) {
    const std::uint64_t amount = 1000 + random() % 30'000;
    auto run = ledger.reserve(asking(amount));
    if (!run) {
      ++refusals;
      continue;
    }
    const bool settles = random() % 2 == 0;
    if (settles) run->settle({static_cast<double>(amount / 2) / kMillion, 0}, SpendingBy::plan);
    report(settles ? amount / 2 : amount);
  }
}

class LedgerShared : public ::testing::TestWithParam<int> {};

TEST_P(LedgerShared, IsNeverOverspentAndWellUsed) {
  const TemporaryFolder folder;
  const std::string path = new_ledger(folder, {1, 0});
  std::vector<std::unique_ptr<ForkedChild>> children;
  for (int i = 0; i < GetParam(); ++i) {
    children.push_back(std::make_unique<ForkedChild>([&](const auto& report) {
      reserve_until_refused(path, 77 + static_cast<std::uint64_t>(i), report);
    }));
  }
  std::uint64_t granted = 0;
  for (const auto& child : children) {
    for (const std::uint64_t amount : child->words()) granted += amount;
  }
  EXPECT_LE(granted, 1'000'000u);
  EXPECT_GE(granted, 950'000u);
  EXPECT_EQ(granted, charged_in(Ledger(path)));
  EXPECT_EQ(integrity_of(path), "ok");
}

INSTANTIATE_TEST_SUITE_P(Processes, LedgerShared, ::testing::Values(2, 8),
                         [](const auto& test) { return "At" + std::to_string(test.param) + "Once"; });

TEST(LedgerFaults, EightProcessesMakeOneLedgerAtOnce) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/budget.db";
  std::vector<std::unique_ptr<ForkedChild>> children;
  for (int i = 0; i < 8; ++i) {
    children.push_back(std::make_unique<ForkedChild>([&](const auto& report) {
      try {
        Ledger::open_or_create(path).add({.hash = kHash, .name = "a", .total = {1, 0}});
        report(1);
      } catch (const InputError&) {
        report(0);
      }
    }));
  }
  std::uint64_t made = 0;
  for (const auto& child : children) made += child->words().at(0);
  EXPECT_EQ(made, 1u);
  EXPECT_EQ(Ledger(path).states().size(), 1u);
}

// A machine that fails.

enum Outcome : std::uint64_t { kGranted = 1, kRefused, kInputError, kMachineFailed, kUnclear };

Outcome outcome_of(const std::function<bool()>& reserve, const std::string& words_of_input_error) {
  try {
    return reserve() ? kGranted : kRefused;
  } catch (const InputError& error) {
    return std::string(error.what()).find(words_of_input_error) != std::string::npos ? kInputError : kUnclear;
  } catch (const InternalError& error) {
    return std::string(error.what()).find("budget.db: cannot") != std::string::npos ? kMachineFailed
                                                                                    : kUnclear;
  }
}

// Reserves with a long text until writing fails: how that ended, and how many were granted before.
std::vector<std::uint64_t> fill_up(Ledger& ledger) {
  RunRequest request = asking(10);
  request.what = std::string(200, 'x');
  std::optional<Reservation> last;
  std::uint64_t granted = 0;
  std::uint64_t outcome = kUnclear;
  for (int i = 0; i < 20'000; ++i) {
    outcome = outcome_of(
        [&] {
          auto run = ledger.reserve(request);
          if (run) last.emplace(std::move(*run));
          return run.has_value();
        },
        "");
    if (outcome != kGranted) break;
    ++granted;
  }
  return {outcome, granted};
}

void expect_conservative(const std::string& path, std::uint64_t granted) {
  EXPECT_EQ(integrity_of(path), "ok");
  EXPECT_GE(charged_in(Ledger(path)), granted * 10);
  EXPECT_LE(charged_in(Ledger(path)), (granted + 1) * 10);
  Ledger again(path);
  EXPECT_TRUE(again.reserve(asking(10)).has_value());
}

TEST(LedgerFaults, AFileThatCannotGrowIsAClearErrorAndKeepsTheCharges) {
  const TemporaryFolder folder;
  const std::string path = new_ledger(folder, {1000, 0});
  const auto told = in_child([&] {
    signal(SIGXFSZ, SIG_IGN);
    Ledger ledger(path);
    const rlimit limit{200'000, 200'000};
    setrlimit(RLIMIT_FSIZE, &limit);
    return fill_up(ledger);
  });
  EXPECT_EQ(told.at(0), kMachineFailed);
  EXPECT_GT(told.at(1), 0u);
  expect_conservative(path, told.at(1));
}

TEST(LedgerFaults, AFullDiskIsAClearErrorAndKeepsTheCharges) {
  const TemporaryFolder folder;
  if (mount("tmpfs", folder.path().c_str(), "tmpfs", 0, "size=256k") != 0) GTEST_SKIP() << "may not mount";
  struct Unmount {
    std::string path;
    ~Unmount() { umount2(path.c_str(), MNT_DETACH); }
  } const at_end{folder.path()};
  const std::string path = new_ledger(folder, {1000, 0});
  const auto told = in_child([&] {
    Ledger ledger(path);
    return fill_up(ledger);
  });
  EXPECT_EQ(told.at(0), kMachineFailed);
  EXPECT_GT(told.at(1), 0u);
  EXPECT_EQ(mount("tmpfs", folder.path().c_str(), "tmpfs", MS_REMOUNT, "size=1m"), 0);
  expect_conservative(path, told.at(1));
}

// A settlement that cannot be written is an error, and the whole reservation stays charged.
TEST(LedgerFaults, ASettlementThatCannotBeWrittenGivesNothingBack) {
  const TemporaryFolder folder;
  const std::string path = new_ledger(folder, {1, 0});
  const auto told = in_child([&]() -> std::vector<std::uint64_t> {
    signal(SIGXFSZ, SIG_IGN);
    Ledger ledger(path);
    auto run = ledger.reserve(asking(500'000));
    const rlimit limit{1, 1};
    setrlimit(RLIMIT_FSIZE, &limit);
    return {outcome_of(
        [&] {
          run->settle({0.1, 0}, SpendingBy::plan);
          return true;
        },
        "")};
  });
  EXPECT_EQ(told.at(0), kMachineFailed);
  EXPECT_EQ(Ledger(path).state(kHash).remaining.epsilon, 0.5);
  EXPECT_EQ(integrity_of(path), "ok");
}

// Root may write anywhere, so the child becomes somebody else.
void become_nobody() {
  if (geteuid() == 0 && setresuid(65534, 65534, 65534) != 0) throw std::runtime_error("cannot become nobody");
}

TEST(LedgerFaults, AReadOnlyFolderIsAClearErrorAndChangesNothing) {
  const TemporaryFolder folder;
  const std::string path = new_ledger(folder, {1, 0});
  const std::string before = read_whole_file(path);
  chmod(path.c_str(), 0644);
  chmod(folder.path().c_str(), 0555);
  const auto told = in_child([&]() -> std::vector<std::uint64_t> {
    become_nobody();
    const auto reserve = [&] { return Ledger(path).reserve(asking(10)).has_value(); };
    const auto create = [&] { return Ledger::open_or_create(folder.path() + "/new.db").path().empty(); };
    return {outcome_of(reserve, "cannot"), outcome_of(create, "cannot open the ledger")};
  });
  chmod(folder.path().c_str(), 0755);
  EXPECT_EQ(told, (std::vector<std::uint64_t>{kInputError, kInputError}));
  EXPECT_EQ(read_whole_file(path), before);
  EXPECT_EQ(Ledger(path).state(kHash).remaining.epsilon, 1);
}

// Forks.

TEST(LedgerFaults, AForkedChildMayNotUseNorSpoilTheParentsLedger) {
  const TemporaryFolder folder;
  const std::string path = new_ledger(folder, {1, 0});
  auto ledger = std::make_unique<Ledger>(path);
  auto run = ledger->reserve(asking(500'000));
  const auto told = in_child([&]() -> std::vector<std::uint64_t> {
    int refused = 0;
    try {
      std::ignore = ledger->reserve(asking(10));
    } catch (const InternalError&) {
      ++refused;
    }
    try {
      run->settle({0, 0}, SpendingBy::plan);
    } catch (const InternalError&) {
      ++refused;
    }
    run.reset();     // must not mark the parent's run as abandoned
    ledger.reset();  // must not close the parent's file
    Ledger own(path);
    return {static_cast<std::uint64_t>(refused), own.reserve(asking(10)).has_value()};
  });
  EXPECT_EQ(told, (std::vector<std::uint64_t>{2, 1}));
  EXPECT_EQ(ledger->runs().at(0).status, RunStatus::open);
  run->settle({0.25, 0}, SpendingBy::plan);
  EXPECT_EQ(ledger->state(kHash).remaining.epsilon, 0.74999);
  EXPECT_EQ(integrity_of(path), "ok");
}

}  // namespace
}  // namespace ration::testing
