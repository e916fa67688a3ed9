#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compare/make_once.h"
#include "compare/run.h"
#include "ration/data/rows.h"
#include "ration/data/schema.h"
#include "ration/train/resolve.h"

namespace ration::compare {

// A data set as it was read: one table per file.
struct LoadedData {
  data::Schema schema;
  std::vector<Rows> tables;
  std::size_t rows = 0;
  std::vector<std::string> hashes{};  // data::content_hashes
};

// The rows of a fold, shared by its jobs.
struct FoldRows {
  std::shared_ptr<const Rows> train;
  std::shared_ptr<const Rows> test;
};

// A plan with its noise, or why there is none.
struct PlanOrRefusal {
  std::optional<ResolvedPlan> plan;
  std::string refused;
};

// What a thread keeps from one job to the next, so that rows in use stay in memory and others do not.
struct Held {
  std::shared_ptr<const LoadedData> data;
  std::shared_ptr<const FoldRows> fold;
  std::shared_ptr<const FoldRows> shortened;
};

// Tables, folds and plans, each made once for all threads. Thread-safe.
class JobInputs {
 public:
  explicit JobInputs(const Comparison& comparison) : comparison_(comparison) {}

  data::Schema schema(const Job& job, Held& held) { return loaded(job, held).schema; }
  // Shortened to `row_norm`, if any.
  FoldRows rows(const Job& job, std::optional<double> row_norm, Held& held);
  std::shared_ptr<const PlanOrRefusal> plan(const Job& job, std::size_t train_rows);
  // InputError if the plan's protector, if it has one, has seen the data.
  void require_other_data(const ResolvedPlan& plan, const Job& job, Held& held);

 private:
  using FoldKey = std::tuple<std::size_t, std::size_t, std::size_t, double>;  // data, repeat, fold, row norm

  const LoadedData& loaded(const Job& job, Held& held);
  FoldRows read_fold(const Job& job, Held& held);

  const Comparison& comparison_;
  MakeOnce<std::size_t, LoadedData, std::weak_ptr> data_;
  MakeOnce<FoldKey, FoldRows, std::weak_ptr> folds_;
  MakeOnce<std::string, PlanOrRefusal, std::shared_ptr> plans_;
};

// The schema of a data set. InputError if it cannot be compared on.
data::Schema schema_of(const DataSet& set);
// Its files where they were found.
std::vector<std::string> files_in(const DataSet& set);
// Hash of its files and schema: whether a comparison goes on with the same rows.
std::string content_of(const DataSet& set);

}  // namespace ration::compare
