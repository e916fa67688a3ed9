#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mman.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <memory>
#include <new>
#include <random>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "base/atomic_file.h"
#include "privacy/ledgers.h"
#include "support/forked.h"

namespace ration::testing {
namespace {

using Tokens = std::vector<std::string>;

constexpr std::int64_t kRun = 1;

// What a trainer's checkpoint says about the ledger: its tokens, one if no attempt to resume was broken off.
void write_checkpoint(const std::string& path, const Tokens& tokens) {
  std::string content;
  for (const std::string& token : tokens) content += token + "\n";
  write_file_atomically(path, content);
}

Tokens read_checkpoint(const std::string& path) {
  std::istringstream content(read_whole_file(path));
  Tokens tokens;
  for (std::string token; content >> token;) tokens.push_back(token);
  return tokens;
}

// The protocol of Ledger's comment.
std::optional<Reservation> resume(Ledger& ledger, const std::string& checkpoint) {
  const Tokens known = read_checkpoint(checkpoint);
  const std::string next = new_holder_token();
  Tokens with_next = known;
  with_next.push_back(next);
  write_checkpoint(checkpoint, with_next);
  auto run = ledger.reattach(kRun, kHash, known, next);
  if (run) write_checkpoint(checkpoint, {next});
  return run;
}

// A run, stopped, with its checkpoint.
class LedgerResume : public ::testing::Test {
 protected:
  LedgerResume() {
    auto run = ledger().reserve({.data_hash = kHash, .budget = {0.5, 0}, .what = "a run"});
    write_checkpoint(checkpoint_, {run->holder()});
    run->leave_open();
  }

  Ledger ledger() const { return Ledger(path_); }

  std::string copy_of_checkpoint() {
    const std::string copy = folder_.path() + "/copy-" + std::to_string(++copies_);
    std::filesystem::copy_file(checkpoint_, copy);
    return copy;
  }

  // Long enough for a child to resume none to a few times, on a slow or busy disk too.
  void sleep_for_a_random_part() {
    std::this_thread::sleep_for(pace_ * std::uniform_real_distribution<double>(0, 4)(random_));
  }

  // In this process; notes how long it takes today.
  std::optional<Reservation> resume_here(const std::string& checkpoint) {
    const auto begin = std::chrono::steady_clock::now();
    Ledger own(path_);
    auto run = resume(own, checkpoint);
    if (run) pace_ = std::chrono::steady_clock::now() - begin;
    return run;
  }

  void expect_open_and_charged() const {
    ASSERT_EQ(integrity_of(path_), "ok");
    ASSERT_EQ(ledger().runs().at(0).status, RunStatus::open);
    ASSERT_EQ(ledger().state(kHash).remaining.epsilon, 0.5);
  }

  TemporaryFolder folder_;
  std::string path_ = new_ledger(folder_, {1, 0});
  std::string checkpoint_ = folder_.path() + "/checkpoint";
  std::mt19937_64 random_{20260102};
  std::chrono::duration<double> pace_ = std::chrono::milliseconds(20);
  int copies_ = 0;
};

// Reports each success, and 0 when it is refused.
void resume_for_ever(const std::string& path, const std::string& checkpoint,
                     const ForkedChild::Report& report) {
  for (Ledger ledger(path);;) {
    auto run = resume(ledger, checkpoint);
    report(run.has_value());
    if (!run) return;
    run->leave_open();
  }
}

TEST_F(LedgerResume, KilledAtAHundredRandomMomentsItCanBeResumedAndOldCopiesCannot) {
  int killed_in_the_middle = 0;
  std::size_t takeovers = 0;
  for (int kill = 0; kill < 100; ++kill) {
    const std::string copy = copy_of_checkpoint();
    ForkedChild child([&](const auto& report) { resume_for_ever(path_, checkpoint_, report); });
    sleep_for_a_random_part();
    child.kill();
    for (const std::uint64_t resumed : child.words()) {
      ASSERT_EQ(resumed, 1u) << "its own checkpoint was refused";
      ++takeovers;
    }
    if (read_checkpoint(checkpoint_).size() > 1) ++killed_in_the_middle;
    expect_open_and_charged();
    auto run = resume_here(checkpoint_);
    ASSERT_TRUE(run.has_value()) << "it cannot be resumed";
    run->leave_open();
    ASSERT_FALSE(resume_here(copy).has_value()) << "an old copy was resumed";
  }
  EXPECT_GT(killed_in_the_middle, 0);  // else the moments are not random enough to mean something
  EXPECT_GT(takeovers, 0u);
  resume_here(checkpoint_)->settle({0.25, 0}, SpendingBy::plan);
  EXPECT_EQ(ledger().state(kHash).remaining.epsilon, 0.75);
}

TEST_F(LedgerResume, OfTwoCopiesKilledAtFiftyRandomMomentsOneCanBeResumed) {
  for (int kill = 0; kill < 50; ++kill) {
    const std::string copy = copy_of_checkpoint();
    ForkedChild first([&](const auto& report) { resume_for_ever(path_, checkpoint_, report); });
    ForkedChild second([&](const auto& report) { resume_for_ever(path_, copy, report); });
    sleep_for_a_random_part();
    first.kill();
    second.kill();
    const auto ever = [](const std::vector<std::uint64_t>& told) { return !told.empty() && told[0] == 1; };
    const bool first_ever = ever(first.words());
    const bool second_ever = ever(second.words());
    ASSERT_FALSE(first_ever && second_ever);
    expect_open_and_charged();

    auto of_copy = resume_here(copy);
    auto of_original = resume_here(checkpoint_);
    ASSERT_NE(of_copy.has_value(), of_original.has_value());
    ASSERT_FALSE(first_ever && of_copy);
    ASSERT_FALSE(second_ever && of_original);
    (of_copy ? of_copy : of_original)->leave_open();
    if (of_copy) std::filesystem::rename(copy, checkpoint_);
  }
}

// Lets processes go at the same moment, round after round.
class StartingLine {
 public:
  explicit StartingLine(int runners) : runners_(runners) {
    void* const shared =
        mmap(nullptr, sizeof(Counter), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) throw std::runtime_error("StartingLine: no shared memory");
    arrived_ = new (shared) Counter(0);
  }
  ~StartingLine() { munmap(arrived_, sizeof(Counter)); }
  StartingLine(const StartingLine&) = delete;
  StartingLine& operator=(const StartingLine&) = delete;

  void wait(int round) const {
    for (++*arrived_; *arrived_ < (round + 1) * runners_;) sched_yield();
  }

 private:
  using Counter = std::atomic<int>;
  int runners_;
  Counter* arrived_;
};

TEST(LedgerRace, TwoCopiesRaceTwoHundredTimesAndOneWins) {
  constexpr int kRaces = 200;
  const TemporaryFolder folder;
  const std::string path = new_ledger(folder, {1, 0});
  Tokens tokens;
  {
    Ledger ledger(path);
    for (int race = 0; race < kRaces; ++race) {
      auto run = ledger.reserve({.data_hash = kHash, .budget = {0.001, 0}, .what = "a run"});
      tokens.push_back(run->holder());
      run->leave_open();
    }
  }
  const StartingLine line(2);
  const auto race_all = [&](const ForkedChild::Report& report) {
    Ledger ledger(path);
    for (int race = 0; race < kRaces; ++race) {
      const Tokens known{tokens[static_cast<std::size_t>(race)]};
      line.wait(race);
      auto run = ledger.reattach(race + 1, kHash, known, new_holder_token());
      if (run) run->leave_open();
      report(run.has_value());
    }
  };
  ForkedChild first(race_all);
  ForkedChild second(race_all);
  const auto first_won = first.words();
  const auto second_won = second.words();
  ASSERT_EQ(first_won.size(), 200u);
  ASSERT_EQ(second_won.size(), 200u);
  for (std::size_t race = 0; race < kRaces; ++race) {
    EXPECT_EQ(first_won[race] + second_won[race], 1u) << race;
  }
  EXPECT_EQ(integrity_of(path), "ok");
}

}  // namespace
}  // namespace ration::testing
