#include "compare/run_comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <mutex>
#include <set>
#include <thread>

#include "base/atomic_file.h"
#include "base/hash.h"
#include "base/parallel.h"
#include "compare/folder.h"
#include "compare/job_inputs.h"
#include "compare/run_job.h"
#include "data/content_hash.h"
#include "ration/base/error.h"
#include "ration/privacy/ledger.h"
#include "train/plan_files.h"

namespace ration::compare {
namespace {

// Hands out jobs to threads and takes back what they made of them.
class Work {
 public:
  Work(const Comparison& comparison, const CompareOptions& options, Folder& folder)
      : comparison_(comparison), options_(options), folder_(folder), inputs_(comparison) {
    std::set<RunName> done;
    for (const Run& run : folder.runs()) done.insert(run.name);
    for (const Job& job : jobs_of(comparison)) {
      if (!done.contains(name_of(job, comparison))) jobs_.push_back(job);
    }
    progress_ = {.done = done.size(), .total = done.size() + jobs_.size(), .done_before = done.size()};
  }

  void run_all() {
    const std::size_t threads =
        std::min(thread_count(options_.threads), std::max<std::size_t>(jobs_.size(), 1));
    {
      std::vector<std::jthread> others;
      for (std::size_t i = 1; i < threads; ++i) others.emplace_back([this] { run_jobs(); });
      run_jobs();
    }
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  void run_jobs() {
    Held held;
    while (const auto job = next()) {
      try {
        finish(run_job(*job, comparison_, inputs_, held));
      } catch (...) {
        fail(std::current_exception());
      }
    }
  }

  std::optional<Job> next() {
    const std::lock_guard guard(mutex_);
    const bool stopped =
        failure_ || (options_.stop != nullptr && options_.stop->load(std::memory_order_relaxed));
    if (stopped || next_ == jobs_.size()) return std::nullopt;
    const Job job = jobs_[next_++];
    progress_.running = name_of(job, comparison_);
    tell();
    return job;
  }

  void finish(const JobOutcome& outcome) {
    const std::lock_guard guard(mutex_);
    folder_.add(outcome.run, outcome.trace);
    ++progress_.done;
    tell();
  }

  void fail(std::exception_ptr failure) {
    const std::lock_guard guard(mutex_);
    if (!failure_) failure_ = std::move(failure);
  }

  void tell() const {
    if (options_.on_progress) options_.on_progress(progress_);
  }

  const Comparison& comparison_;
  const CompareOptions& options_;
  Folder& folder_;
  JobInputs inputs_;
  std::vector<Job> jobs_;
  std::mutex mutex_;  // of all below, and of the folder
  std::size_t next_ = 0;
  CompareProgress progress_;
  std::exception_ptr failure_;
};

void require_public(const Comparison& comparison, const std::string& ledger_file) {
  if (!comparison.is_public) {
    throw InputError(
        "compare: are these rows public? The figures are computed from them without noise; give --public, or "
        "'public = true' in the plan file, if they are. For private rows there is 'ration train'");
  }
  if (ledger_file.empty()) return;
  const Ledger ledger = Ledger::open_to_read(ledger_file);
  for (const DataSet& set : comparison.data) {
    for (const std::string& hash : data::content_hashes(files_in(set))) {
      if (!ledger.knows(hash)) continue;
      throw InputError(fmt::format("{}: not public: it has a budget for the rows of data set '{}'",
                                   ledger_file, set.name));
    }
  }
}

// The comparison's text with the contents of its files, which is read before anything is written.
std::string full_text(const Comparison& comparison) {
  std::string text =
      "# What this folder compares. Written by ration; a folder goes on with the same comparison only.\n";
  for (const DataSet& set : comparison.data)
    text += fmt::format("# {}: contents {}\n", set.name, content_of(set));
  for (const MethodChoice& method : comparison.methods) {
    for (const Setting& setting : method.settings) {
      if (names_plan_file(setting.key, setting.text))
        text += fmt::format("# {}: {} {}\n", method.name, setting.key, sha256_of_file(setting.text));
    }
  }
  return text + to_toml(comparison);
}

void require_models_fit(const Comparison& comparison) {
  for (const DataSet& set : comparison.data) {
    const data::Schema schema = schema_of(set);
    for (const ModelChoice& model : comparison.models)
      ration::require_sound(untrained_model(measuring_plan(comparison, model), schema));
  }
}

void require_something_ran(const Results& results, const std::vector<Run>& runs) {
  const auto ran = [](const Run& run) { return run.refused.empty(); };
  if (!results.finished() || runs.empty() || std::any_of(runs.begin(), runs.end(), ran)) return;
  throw InputError(fmt::format("compare: every plan was refused; the first: {}", runs.front().refused));
}

void write_results(const Results& results, const std::filesystem::path& folder) {
  write_file_atomically((folder / "results.csv").string(), to_csv(results));
  write_file_atomically((folder / "results.json").string(), to_json(results));
  write_file_atomically((folder / "results.md").string(), to_markdown(results));
}

}  // namespace

Results run_comparison(const Comparison& comparison, const CompareOptions& options) {
  require_sound(comparison);
  require_public(comparison, options.ledger);
  require_models_fit(comparison);
  Folder folder(options.out, full_text(comparison));
  Work(comparison, options, folder).run_all();
  Results results = results_of(comparison, folder.runs(), folder.traces());
  require_something_ran(results, folder.runs());
  write_results(results, options.out);
  return results;
}

}  // namespace ration::compare
