#include "audit/canaries.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "train/method_plan.h"

namespace ration::audit {
namespace {

constexpr std::size_t kFewestColumns = 16;
constexpr std::size_t kMostColumns = 1024;
constexpr std::size_t kMostInputs = 8192;  // of a network that sees many canaries

// So many that the gradient of their ones is longer than the clip bound.
//
// Linear      k ones give it the length sqrt(k) / 4 or more while the model gives the canary's class no more
//             than three chances in four.
// Network     weights begin within 1 / sqrt(inputs), so that many ones leave a unit of the first layer as
//             undecided as few, but its weights get a gradient of sqrt(k) times what comes back to the unit:
//             .3 or so altogether through one hidden layer, less through several.
std::size_t columns_of_canary(const Plan& plan, std::size_t canaries) {
  const bool is_network = plan.model.is_network();
  const double bound = plan.clip_bound.value_or(1);
  const double enough = std::ceil((is_network ? 64 : 16) * bound * bound);
  const auto columns =
      static_cast<std::size_t>(std::clamp(enough, double{kFewestColumns}, double{kMostColumns}));
  return is_network ? std::min(columns, std::max(kFewestColumns, kMostInputs / canaries)) : columns;
}

bool is_numeric(const Plan& plan) {
  return !plan.model.is_network() && plan.model.loss() == GlmLoss::squared;
}

data::Column label_column(bool numeric) {
  data::Column column;
  column.name = "label";
  column.type = numeric ? data::ColumnType::number : data::ColumnType::category;
  if (!numeric) column.categories = {"no", "yes"};
  return column;
}

data::Schema made_up_schema(const Plan& plan, std::size_t features) {
  data::Schema schema;
  schema.file = "made-up table";
  schema.format = data::FileFormat::libsvm;
  schema.indexed_features = data::IndexedFeatures{.count = features};
  schema.columns = {label_column(is_numeric(plan))};
  schema.label = "label";
  schema.bias = recipe_of(plan.method).needs_bias || plan.center == Centering::yes;
  return fitted_to(plan, schema);
}

std::vector<double> copied_labels(const Rows& rows) {
  return {rows.labels().begin(), rows.labels().end()};
}

// The rows named, in their order, sparse whatever they were: neighbours are stored alike.
SharedRows taken_from(const Rows& rows, const std::vector<std::size_t>& places, std::vector<double> labels) {
  SparseMatrix matrix;
  matrix.columns = rows.columns();
  for (const std::size_t place : places) {
    rows.for_each_entry(place, [&](std::size_t column, double value) {
      if (value != 0) matrix.add(column, value);
    });
    matrix.end_row();
  }
  return std::make_shared<const Rows>(Rows::sparse(std::move(matrix), std::move(labels)));
}

double other_label(const data::Schema& schema, double label) {
  if (schema.classes() > 0) return label == 0 ? 1 : 0;
  const data::Column& column = schema.label_column();
  return label - column.low < column.high - label ? column.high : column.low;
}

}  // namespace

CanaryTable::CanaryTable(const Plan& plan, Relation relation, std::size_t canaries, std::size_t other_rows)
    : other_rows_(other_rows),
      columns_each_(columns_of_canary(plan, canaries)),
      others_pull_(plan.model.is_network()),
      relation_(relation),
      schema_(made_up_schema(plan, columns_each_ * canaries)) {
  for (std::size_t i = 0; i < canaries; ++i) {
    const bool has_twin = relation == Relation::replace_one;
    canaries_.push_back({.row = build({i}, {1}), .twin = has_twin ? build({i}, {0}) : nullptr});
  }
}

SharedRows CanaryTable::build(const std::vector<std::optional<std::size_t>>& chosen,
                              const std::vector<double>& labels) const {
  SparseMatrix matrix;
  matrix.columns = schema_.indexed_features->count + (schema_.bias ? 1 : 0);
  for (const std::optional<std::size_t>& canary : chosen) {
    for (std::size_t k = 0; canary && k < columns_each_; ++k) matrix.add(*canary * columns_each_ + k, 1);
    if (schema_.bias) matrix.add(matrix.columns - 1, 1);
    matrix.end_row();
  }
  return std::make_shared<const Rows>(Rows::sparse(std::move(matrix), labels));
}

SharedRows CanaryTable::others_that_pull() const {
  if (!others_pull_ || other_rows_ == 0) return nullptr;
  return build(std::vector<std::optional<std::size_t>>(other_rows_), std::vector<double>(other_rows_, 0.0));
}

SharedRows CanaryTable::rows(const std::vector<bool>& present) const {
  std::vector<std::optional<std::size_t>> chosen(other_rows_);
  std::vector<double> labels(other_rows_, 0.0);
  for (std::size_t i = 0; i < present.size(); ++i) {
    if (!present[i] && relation_ == Relation::add_remove) continue;
    chosen.emplace_back(i);
    labels.push_back(present[i] ? 1 : 0);
  }
  return build(chosen, labels);
}

Neighbours worst_case_neighbours(const Plan& plan, Relation relation, std::size_t other_rows) {
  const CanaryTable table(plan, relation, 1, other_rows);
  return {.schema = table.schema(),
          .with = table.rows({true}),
          .without = table.rows({false}),
          .common = table.others_that_pull(),
          .canary = table.canaries().front()};
}

Neighbours neighbours_in(data::Schema schema, const Rows& rows, Relation relation) {
  const std::span<const double> norms = rows.norms();
  const auto longest = static_cast<std::size_t>(std::max_element(norms.begin(), norms.end()) - norms.begin());
  std::vector<std::size_t> places(rows.count());
  for (std::size_t i = 0; i < places.size(); ++i) places[i] = i;
  const std::vector<double> labels = copied_labels(rows);
  const double planted = other_label(schema, labels[longest]);
  Neighbours out{.schema = std::move(schema),
                 .with = nullptr,
                 .without = taken_from(rows, places, labels),
                 .common = nullptr,
                 .canary = {.row = taken_from(rows, {longest}, {planted}), .twin = nullptr}};
  std::vector<std::size_t> others = places;
  std::vector<double> other_labels = labels;
  if (relation == Relation::replace_one) {
    out.canary.twin = taken_from(rows, {longest}, {labels[longest]});
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(longest));
    other_labels.erase(other_labels.begin() + static_cast<std::ptrdiff_t>(longest));
  }
  out.common = taken_from(rows, others, other_labels);
  std::vector<std::size_t> planted_places = others;
  planted_places.push_back(longest);
  std::vector<double> planted_labels = other_labels;
  planted_labels.push_back(planted);
  out.with = taken_from(rows, planted_places, planted_labels);
  return out;
}

}  // namespace ration::audit
