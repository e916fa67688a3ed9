#include "compare/job_inputs.h"

#include <fmt/format.h>

#include "base/hash.h"
#include "base/quote.h"
#include "compare/folds.h"
#include "data/content_hash.h"
#include "data/find_file.h"
#include "data/select_rows.h"
#include "methods/protector.h"
#include "ration/base/error.h"
#include "ration/data/table.h"

namespace ration::compare {
namespace {

LoadedData read_data(const DataSet& set) {
  const std::vector<std::string> files = files_in(set);
  LoadedData out{.schema = schema_of(set), .tables = {}, .hashes = data::content_hashes(files)};
  for (const std::string& file : files) {
    data::Table table = data::read_table(file, out.schema);
    out.rows += table.rows.count();
    out.tables.push_back(std::move(table.rows));
  }
  return out;
}

FoldRows shortened(const FoldRows& rows, double bound) {
  return {.train = std::make_shared<const Rows>(rows.train->with_row_norms_at_most(bound)),
          .test = std::make_shared<const Rows>(rows.test->with_row_norms_at_most(bound))};
}

PlanOrRefusal resolve_or_refuse(const Plan& plan) {
  try {
    return {.plan = resolve(plan), .refused = {}};
  } catch (const InputError& error) {
    return {.plan = {}, .refused = error.what()};
  } catch (const BudgetRefused& error) {
    return {.plan = {}, .refused = error.what()};
  }
}

}  // namespace

data::Schema schema_of(const DataSet& set) {
  const data::Schema schema = data::read_schema(data::find_data_file(set.schema, set.beside));
  data::require_sound(schema);
  if (!schema.unit.empty())
    throw InputError(
        fmt::format("compare: data set '{}': unit = {}: methods are compared row by row; leave unit "
                    "and rows_per_unit out of the schema to compare what protects a row",
                    set.name, in_quotes(schema.unit)));
  return schema;
}

std::vector<std::string> files_in(const DataSet& set) {
  std::vector<std::string> files;
  for (const std::string& file : set.files) files.push_back(data::find_data_file(file, set.beside));
  return files;
}

std::string content_of(const DataSet& set) {
  std::string hashes = sha256_of_file(data::find_data_file(set.schema, set.beside));
  for (const std::string& file : files_in(set)) hashes += sha256_of_file(file);
  return sha256(hashes);
}

const LoadedData& JobInputs::loaded(const Job& job, Held& held) {
  held.data = data_.get(job.data, [&] { return read_data(comparison_.data[job.data]); });
  return *held.data;
}

FoldRows JobInputs::read_fold(const Job& job, Held& held) {
  const LoadedData& data = loaded(job, held);
  const Split split = Folds(data.rows, comparison_.folds, job.repeat).split(job.fold);
  return {.train = std::make_shared<const Rows>(data::select_rows(data.tables, split.train)),
          .test = std::make_shared<const Rows>(data::select_rows(data.tables, split.test))};
}

FoldRows JobInputs::rows(const Job& job, std::optional<double> row_norm, Held& held) {
  held.fold = folds_.get({job.data, job.repeat, job.fold, 0}, [&] { return read_fold(job, held); });
  if (!row_norm) return *held.fold;
  held.shortened = folds_.get({job.data, job.repeat, job.fold, *row_norm},
                              [&] { return shortened(*held.fold, *row_norm); });
  return *held.shortened;
}

void JobInputs::require_other_data(const ResolvedPlan& plan, const Job& job, Held& held) {
  if (plan.protector() == nullptr) return;
  for (const std::string& hash : loaded(job, held).hashes) require_independent(*plan.protector(), hash);
}

std::shared_ptr<const PlanOrRefusal> JobInputs::plan(const Job& job, std::size_t train_rows) {
  const double epsilon = comparison_.epsilons[job.epsilon.value_or(0)];
  const Plan plan = plan_for(comparison_, comparison_.models[job.model], comparison_.methods[job.method],
                             epsilon, static_cast<double>(train_rows));
  return plans_.get(ration::to_toml(plan), [&] { return resolve_or_refuse(plan); });
}

}  // namespace ration::compare
