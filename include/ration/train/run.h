// Stable: changes only with a new major version.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "ration/base/random.h"
#include "ration/data/table.h"
#include "ration/methods/step_report.h"
#include "ration/privacy/certificate.h"
#include "ration/train/model.h"
#include "ration/train/plan.h"
#include "ration/train/resolve.h"

namespace ration {

// What an observer sees after each step: private already, or public.
struct Progress {
  StepReport step;           // the last one
  std::int64_t charged = 0;  // steps that are done, or were lost by a crash
  std::int64_t total = 0;    // that are planned; 0 if the method chooses as it goes
  double budget_share = 0;   // 0 to 1
};

// Looks on; cannot change a step.
class Observer {
 public:
  virtual ~Observer() = default;
  // After each step, on the run's thread.
  virtual void on_step(const Progress& progress) = 0;
};

// What reads the private rows.
using TableReader = std::function<data::Table(const std::string& path, const data::Schema& schema)>;

// How a run is carried out; none of it changes what is promised.
struct RunOptions {
  std::string out;                          // the run's folder
  std::size_t threads = 0;                  // 0: one per processor
  std::string device = "cpu";               // of networks: also "cuda", "cuda:1", ... where libtorch has them
  std::vector<Observer*> observers{};       // told of each step
  const std::atomic<bool>* stop = nullptr;  // asked after each step: leave a run that can be resumed
  // data::read_table with the plan's on_bad_row if empty; called once, after the budget is reserved.
  TableReader read{};
  std::string sign{};  // file with the Ed25519 private key (PEM) that signs the certificate; empty: nobody
};

// What a run left behind.
struct RunOutcome {
  bool finished = false;      // false: stopped, and can be resumed
  ResolvedPlan plan{};        // with every choice written out
  Certificate certificate{};  // if finished
  std::int64_t steps = 0;     // done
  Model model{};              // if finished
};

// Trains by a plan and leaves a folder: model.json, certificate.json and .txt (and .sig if it is signed),
// plan.toml, schema.toml and progress.csv.
//
// Order       the plan is resolved and found to be within the budget, the folder made, the whole budget
//             reserved in the ledger, and only then the rows are read.
// Crashes     before a stretch of steps runs, a checkpoint says that it is paid for. Killed at any moment,
//             the run can go on by resume_run; what ran since the last checkpoint is lost and stays paid for.
//             Nothing of it was shown to anyone.
// Copies      of two copies of the folder one can go on, if there is a ledger; a process whose run was
//             resumed elsewhere removes what it has, because those steps were paid for once.
// Throws BudgetRefused if plan or ledger refuse, before a row is read; InputError for what the user can mend.
// What is thrown before the first release calls the run off, and the folder is left as it was. The ledger
// gets its reservation back if no row had a say in that (data::PublicFault: a wrong header, a public number
// of rows that is not the plan's). Otherwise the failure is an answer about the rows, and stays paid for in
// full: a row that breaks the schema, for one. What is thrown later leaves a run that can be resumed.
RunOutcome train(const Plan& plan, const RunOptions& options, RandomSource& random);

// Goes on with the run in `options.out`. InputError if there is none, it is finished, another process is at
// work on it, or plan, schema or data are not those it began with.
RunOutcome resume_run(const RunOptions& options, RandomSource& random);

}  // namespace ration
