#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "support/child_process.h"
#include "support/places.h"
#include "train/runs.h"

namespace ration::testing {

using Words = std::vector<std::string>;

// `ration train` as processes, on the made-up census with a ledger.
class TrainProcess : public ::testing::Test {
 protected:
  static constexpr double kEpsilon = 0.5;
  static constexpr double kDelta = 1e-5;

  // Room for so many runs, and not for one more.
  void allow(int runs) const { files_.make_ledger({kEpsilon * runs, kDelta * runs}); }

  Words train_words(const std::string& run, int steps, int every) const {
    return {"train",
            files_.data(),
            "--schema",
            files_.schema(),
            "--epsilon",
            "0.5",
            "--delta",
            "1e-5",
            "--rows",
            "300",
            "--threads",
            "1",
            "--quiet",
            "--ledger",
            files_.ledger(),
            "--method",
            "dpsgd",
            "--steps",
            std::to_string(steps),
            "--checkpoint-every",
            std::to_string(every),
            "--out",
            files_.run(run)};
  }
  Words resume_words(const std::string& run) const {
    return {"train", "--resume", files_.run(run), "--threads", "1", "--quiet"};
  }

  // Goes on where the folder stands.
  Words next_words(const std::string& run, int steps, int every) const {
    return exists(files_.run(run) + "/checkpoint/state.json") ? resume_words(run)
                                                              : train_words(run, steps, every);
  }

  static Finished run_words(const Words& words, const std::string& folder = "") {
    return run_program(RATION_BINARY, words, folder);
  }

  // Steps that are paid for, by the checkpoint; 0 if there is none.
  static std::int64_t charged_in(const std::string& run) {
    try {
      return checkpoint_in(run).training.charged;
    } catch (const std::runtime_error&) {
      return 0;
    }
  }
  // Until the program is certain to be among its steps, which had `charged` behind them when it began.
  static void wait_for_steps(const std::string& run, RunningProgram& program, std::int64_t charged = 0) {
    while (charged_in(run) <= charged && !program.has_ended())
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }

  std::vector<LedgerRun> ledger_runs() const { return Ledger(files_.ledger()).runs(); }
  LedgerState ledger_state() const { return Ledger(files_.ledger()).state(files_.hash()); }

  // In the plan's events, whatever was lost.
  void expect_certified_steps(const std::string& run, std::int64_t steps) const {
    std::int64_t events = 0;
    for (const CountedEvent& one : certificate_in(files_.run(run)).events) events += one.count;
    EXPECT_EQ(events, steps);
  }

  CensusFiles files_;
};

}  // namespace ration::testing
