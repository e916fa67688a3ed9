#include "e6/trial.h"

#include <algorithm>

#include "data/add_hats.h"
#include "ration/train/fit.h"

namespace ration::e6 {
namespace {

data::Table test_table(const data::Schema& schema, const MadeUp& table) {
  const bool same = data::encoded_column_names(schema).size() == table.test.columns();
  return {.rows = same ? table.test : data::add_hats(table.test, table.schema, schema),
          .column_names = data::encoded_column_names(schema),
          .classes = schema.class_names()};
}

double explained_part(std::span<const double> labels, double root_mean_square_error) {
  double mean = 0, square = 0;
  const auto rows = static_cast<double>(labels.size());
  for (const double label : labels) mean += label / rows;
  for (const double label : labels) square += (label - mean) * (label - mean) / rows;
  return 100 * (1 - root_mean_square_error * root_mean_square_error / square);
}

}  // namespace

double score_of(const Model& model, const MadeUp& table) {
  const Evaluation found = evaluate_public(model, test_table(model.schema, table));
  if (found.accuracy) return 100 * *found.accuracy;
  return explained_part(table.test.labels(), *found.root_mean_square_error);
}

double score_of(const Trial& trial, const MadeUp& table) {
  Plan plan;
  plan.method = trial.method;
  plan.model = trial.model;
  plan.features = trial.features;
  plan.relation = trial.relation;
  plan.epsilon = trial.epsilon;
  plan.delta = trial.delta;
  plan.rows = static_cast<double>(table.train->count());
  return score_of(fit(resolve(plan), table.schema, table.train, SecureRandom::for_this_thread(),
                      {.threads = 1, .certificate = false})
                      .model,
                  table);
}

double score_of_majority(const MadeUp& table) {
  if (table.schema.classes() == 0) return 0;
  std::vector<double> counts(table.schema.classes());
  for (const double label : table.test.labels()) ++counts[static_cast<std::size_t>(label)];
  return 100 * *std::max_element(counts.begin(), counts.end()) / static_cast<double>(table.test.count());
}

}  // namespace ration::e6
