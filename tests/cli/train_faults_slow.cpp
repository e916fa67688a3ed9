#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <random>

#include "cli/train_process.h"
#include "support/killed_at_write.h"
#include "support/places.h"

namespace ration::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using Clock = std::chrono::steady_clock;

class TrainFaults : public TrainProcess {
 protected:
  void kill_after(const Words& words, Clock::duration time) {
    RunningProgram program(RATION_BINARY, words);
    const auto end = Clock::now() + time;
    while (Clock::now() < end && !program.has_ended())
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    killed_ += !program.has_ended();
    program.signal(SIGKILL);
    const Finished finished = program.wait();
    EXPECT_TRUE(finished.exit_code == 0 || finished.exit_code == 128 + SIGKILL) << finished.err;
  }

  // Until it is finished. A reservation whose process died before its first checkpoint is lost, and charged.
  void finish(const std::string& run, int steps, int every) {
    if (exists(files_.run(run) + "/model.json") && !exists(files_.run(run) + "/checkpoint/state.json")) {
      run_words(resume_words(run));  // says that it is finished, and tidies up
    } else {
      const Finished finished = run_words(next_words(run, steps, every));
      ASSERT_EQ(finished.exit_code, 0) << finished.err;
    }
    expect_finished(files_.run(run));
    expect_sound(files_.run(run), files_);
    expect_certified_steps(run, steps);
    const std::int64_t entry = certificate_in(files_.run(run)).ledger->run;
    EXPECT_EQ(ledger_runs().at(static_cast<std::size_t>(entry - 1)).status, RunStatus::settled);
  }

  bool is_finished(const std::string& run) const {
    return exists(files_.run(run) + "/model.json") && !exists(files_.run(run) + "/checkpoint/state.json");
  }

  int killed_ = 0;
  std::mt19937_64 random_{20260103};
};

// A third soon after the start, a third within a few checkpoints, a third at any moment up to the end.
TEST_F(TrainFaults, KilledAtFiftyRandomMomentsARunGoesOnAndNeverOverspends) {
  constexpr int kSteps = 300;
  constexpr int kEvery = 20;
  allow(1000);  // a kill can cost a reservation, and how many runs end between kills is up to the disk
  const auto start = Clock::now();
  ASSERT_EQ(run_words(train_words("whole", kSteps, kEvery)).exit_code, 0);
  const auto whole = Clock::now() - start;
  int runs = 1;
  std::size_t entries = 1;
  for (int attempt = 0; killed_ < 50; ++attempt) {
    const std::string run = "run" + std::to_string(runs);
    const auto most = attempt % 3 == 0 ? whole / 10 : attempt % 3 == 1 ? whole / 4 : whole;
    kill_after(
        next_words(run, kSteps, kEvery),
        Clock::duration(static_cast<Clock::rep>(random_() % static_cast<std::uint64_t>(most.count()))));
    expect_sound(files_.run(run), files_);
    // Whatever was killed is charged in full, and nothing is forgotten.
    ASSERT_GE(ledger_runs().size(), entries);
    entries = ledger_runs().size();
    for (const LedgerRun& one : ledger_runs()) {
      ASSERT_TRUE(one.status == RunStatus::settled || one.charged.epsilon == kEpsilon) << one.id;
    }
    if (HasFailure()) FAIL() << "attempt " << attempt;
    if (is_finished(run)) {
      finish(run, kSteps, kEvery);
      ++runs;
    }
  }
  finish("run" + std::to_string(runs), kSteps, kEvery);
}

// Every moment that a crash can tell from the one before: a run of four steps, killed before or after every
// other call that changes the disk, then killed once more while it goes on, then finished.
TEST_F(TrainFaults, KilledAtEveryWriteARunGoesOnAndNeverOverspends) {
  if (!can_trace_children()) GTEST_SKIP() << "may not trace children here";
  constexpr int kSteps = 4;
  constexpr int kEvery = 2;
  allow(1000);
  const int writes =
      kill_at_write(RATION_BINARY, train_words("whole", kSteps, kEvery), 1'000'000, true).writes;
  ASSERT_GT(writes, 40);
  ASSERT_TRUE(is_finished("whole"));
  for (int n = 1; n <= writes; n += 2) {
    const std::string run = "run" + std::to_string(n);
    const bool before = n % 4 == 1;
    ASSERT_TRUE(kill_at_write(RATION_BINARY, train_words(run, kSteps, kEvery), n, before).killed);
    expect_sound(files_.run(run), files_);
    if (!is_finished(run)) {
      kill_at_write(RATION_BINARY, next_words(run, kSteps, kEvery),
                    1 + static_cast<int>(random_() % static_cast<std::uint64_t>(writes)), !before);
      expect_sound(files_.run(run), files_);
    }
    finish(run, kSteps, kEvery);
    if (HasFailure()) FAIL() << "killed " << (before ? "before" : "after") << " write " << n;
    fs::remove_all(files_.run(run));
  }
}

// The count of the rows is asked once: killed just then, a run says that it cannot go on, and stays charged.
TEST_F(TrainFaults, KilledAroundItsCountOfTheRowsARunNeverCountsTwice) {
  if (!can_trace_children()) GTEST_SKIP() << "may not trace children here";
  allow(200);
  const auto counted = [&](const std::string& run) {
    Words words = train_words(run, 4, 2);
    words.erase(std::find(words.begin(), words.end(), "--rows"),
                std::find(words.begin(), words.end(), "--threads"));
    return words;
  };
  const int writes = kill_at_write(RATION_BINARY, counted("whole"), 1'000'000, true).writes;
  int lost = 0;
  for (int n = 2; n <= writes / 2; n += 2) {
    const std::string run = "run" + std::to_string(n);
    ASSERT_TRUE(kill_at_write(RATION_BINARY, counted(run), n, n % 4 == 2).killed);
    expect_sound(files_.run(run), files_);
    if (!exists(files_.run(run) + "/checkpoint/state.json")) continue;
    const Finished finished = run_words(resume_words(run));
    expect_sound(files_.run(run), files_);
    if (finished.exit_code == 0) {
      expect_certified_steps(run, 5);
    } else {
      ++lost;
      EXPECT_THAT(finished.err, HasSubstr("the answer is spent and lost"));
      EXPECT_EQ(ledger_runs().back().status, RunStatus::open);
      EXPECT_EQ(ledger_runs().back().charged.epsilon, kEpsilon);
    }
  }
  EXPECT_GT(lost, 0);
  EXPECT_LT(lost, writes / 4);
}

// A process that was killed among its steps leaves a checkpoint in which they are paid for; who goes on takes
// the steps that are left, and no more.
TEST_F(TrainFaults, WhatIsPaidForIsNeitherForgottenNorRepeated) {
  constexpr int kSteps = 200;
  constexpr int kEvery = 10;
  allow(40);
  TrainingState state;
  for (int kill = 0; kill < 20 && !is_finished("run"); ++kill) {
    kill_after(next_words("run", kSteps, kEvery), std::chrono::microseconds(5'000 + random_() % 40'000));
    if (!exists(files_.run("run") + "/checkpoint/state.json")) continue;
    const TrainingState before = state;
    state = checkpoint_in(files_.run("run")).training;
    ASSERT_GE(state.charged, before.charged);
    ASSERT_GE(state.charged - steps_done(state), before.charged - steps_done(before));
    ASSERT_TRUE(state.charged == 0 || state.charged == kSteps || steps_done(state) < state.charged);
  }
  if (is_finished("run")) return;
  finish("run", kSteps, kEvery);
  const std::string progress = read_whole_file(files_.run("run") + "/progress.csv");
  EXPECT_EQ(std::count(progress.begin(), progress.end(), '\n') - 1,
            kSteps - (state.charged - steps_done(state)));
}

class ManyAtOnce : public TrainProcess, public ::testing::WithParamInterface<int> {};

// Twice as many as fit.
TEST_P(ManyAtOnce, NeverExceedTheLedgersTotal) {
  const int processes = GetParam();
  const int room = processes / 2;
  allow(room);
  std::vector<std::unique_ptr<RunningProgram>> running;
  for (int i = 0; i < processes; ++i) {
    running.push_back(
        std::make_unique<RunningProgram>(RATION_BINARY, train_words("run" + std::to_string(i), 60, 10)));
  }
  int finished = 0;
  for (int i = 0; i < processes; ++i) {
    const std::string run = files_.run("run" + std::to_string(i));
    const Finished end = running[static_cast<std::size_t>(i)]->wait();
    expect_sound(run, files_);
    if (end.exit_code == 0) {
      ++finished;
      expect_finished(run);
    } else {
      EXPECT_EQ(end.exit_code, 2) << end.err;
      EXPECT_THAT(end.err, HasSubstr("left for these rows"));
      EXPECT_FALSE(exists(run));
    }
  }
  // A settled run gives its last digits back, but never room for another.
  EXPECT_EQ(finished, room);
  EXPECT_EQ(ledger_runs().size(), static_cast<std::size_t>(room));
}

INSTANTIATE_TEST_SUITE_P(TwoAndEight, ManyAtOnce, ::testing::Values(2, 8));

}  // namespace
}  // namespace ration::testing
