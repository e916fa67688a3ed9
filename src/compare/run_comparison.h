#pragma once

#include <atomic>
#include <functional>
#include <string>

#include "compare/comparison.h"
#include "compare/results.h"

namespace ration::compare {

struct CompareProgress {
  std::size_t done = 0;  // jobs, those of earlier processes included
  std::size_t total = 0;
  std::size_t done_before = 0;  // by earlier processes
  RunName running{};            // the job that was begun last
};

// How a comparison is carried out; none of it changes the results but for their noise.
struct CompareOptions {
  std::string out;                          // the folder, which is made, or goes on
  std::string ledger{};                     // rows that it knows are refused; empty: none is asked
  std::size_t threads = 0;                  // 0: one per processor
  const std::atomic<bool>* stop = nullptr;  // asked before each job: leave a folder that can go on
  std::function<void(const CompareProgress&)>
      on_progress{};  // when a job begins and ends, one call at a time
};

// Runs every job that the folder does not have yet and leaves there comparison.toml, runs.csv, trace.csv,
// results.csv, results.json and results.md.
//
// Threads     a job has one thread, and there is one job per thread; jobs share the rows of their fold and
//             the noise that was found for their plan.
// Refused     a plan that cannot be run (its budget is too small, say) is noted with its reason, and the
//             others go on.
// Public      InputError, before a row is read, unless the comparison says that its rows are public and the
//             ledger, if there is one, knows none of its files.
// Throws InputError for what the user can mend, before any job if possible; if every job was refused, with
// the first reason.
Results run_comparison(const Comparison& comparison, const CompareOptions& options);

}  // namespace ration::compare
