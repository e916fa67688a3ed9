#include "meta/task.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/distributions.h"
#include "base/index_sampling.h"
#include "data/select_rows.h"
#include "objectives/quadratic.h"
#include "ration/base/error.h"

namespace ration::meta {
namespace {

// So wide that it changes nothing.
constexpr double kNoBound = 1e100;

double between(RandomSource& random, double low, double high) {
  return low + (high - low) * uniform(random);
}
// Even on a logarithmic scale.
std::size_t size_between(RandomSource& random, std::size_t low, std::size_t high) {
  return static_cast<std::size_t>(
      std::exp(between(random, std::log(static_cast<double>(low)), std::log(static_cast<double>(high)))));
}

// A column of several categories, some of them rare, or a number.
struct Column {
  std::size_t first = 0;             // encoded
  std::vector<double> cumulative{};  // probabilities of the categories; empty: a number
};

std::vector<Column> random_columns(RandomSource& random, std::size_t encoded) {
  std::vector<Column> columns;
  for (std::size_t used = 0; used < encoded;) {
    Column column{.first = used};
    const std::size_t categories = std::min<std::size_t>(encoded - used, 1 + uniform_below(random, 12));
    if (categories > 1) {
      column.cumulative.resize(categories);
      for (double& p : column.cumulative) p = std::exp(1.5 * standard_gaussian(random));
      std::partial_sum(column.cumulative.begin(), column.cumulative.end(), column.cumulative.begin());
      for (double& p : column.cumulative) p /= column.cumulative.back();
    }
    used += categories;
    columns.push_back(std::move(column));
  }
  return columns;
}

// Appends the row and returns w x.
double add_row(RandomSource& random, const std::vector<Column>& columns, std::span<const double> w,
               SparseMatrix& matrix) {
  double score = 0;
  for (const Column& column : columns) {
    std::size_t place = column.first;
    double value = 1;
    if (column.cumulative.empty()) {
      value = std::pow(uniform(random), 1.5);
    } else {
      const double u = uniform(random);
      place += static_cast<std::size_t>(
          std::upper_bound(column.cumulative.begin(), column.cumulative.end() - 1, u) -
          column.cumulative.begin());
    }
    matrix.add(place, value);
    score += w[place] * value;
  }
  matrix.add(matrix.columns - 1, 1);
  matrix.end_row();
  return score;
}

std::shared_ptr<const Rows> generated_rows(RandomSource& random, const GeneratedTables& options) {
  const std::size_t count = size_between(random, options.least_rows, options.most_rows);
  const std::size_t encoded = size_between(random, options.least_columns, options.most_columns);
  const std::vector<Column> columns = random_columns(random, encoded);
  std::vector<double> w(encoded);
  for (double& weight : w) weight = standard_gaussian(random);
  SparseMatrix matrix{.columns = encoded + 1, .starts = {0}, .indices = {}, .values = {}};
  std::vector<double> scores(count);
  for (double& score : scores) score = add_row(random, columns, w, matrix);
  // Signal and share of the second class vary from table to table.
  std::vector<double> sorted = scores;
  std::sort(sorted.begin(), sorted.end());
  const double threshold =
      sorted[static_cast<std::size_t>(between(random, 0.2, 0.8) * static_cast<double>(count))];
  const double spread = sorted[count * 9 / 10] - sorted[count / 10];
  const double strength = between(random, 2, 10) / std::max(1e-9, spread);
  std::vector<double> labels(count);
  for (std::size_t i = 0; i < count; ++i)
    labels[i] = bernoulli(random, 1 / (1 + std::exp(-strength * (scores[i] - threshold)))) ? 1 : 0;
  return std::make_shared<const Rows>(
      Rows::build_public(std::move(matrix), std::move(labels)).with_row_norms_at_most(options.max_row_norm));
}

bool has_two_classes(GlmLoss loss) {
  return loss == GlmLoss::logistic || loss == GlmLoss::hinge || loss == GlmLoss::huber;
}

Rows with_sides_changed(Rows rows) {
  std::vector<double> labels(rows.labels().begin(), rows.labels().end());
  for (double& label : labels) label = 1 - label;
  return std::move(rows).with_labels(std::move(labels));
}

double product(const Rows& rows, std::size_t row, std::span<const double> w) {
  double sum = 0;
  rows.for_each_entry(row, [&](std::size_t column, double value) { sum += value * w[column]; });
  return sum;
}

void add_row_times(const Rows& rows, std::size_t row, double factor, std::span<double> out) {
  rows.for_each_entry(row, [&](std::size_t column, double value) { out[column] += factor * value; });
}

// The mean of s(-y z), s the sigmoid, and its gradient unless that is empty.
double smooth_errors(const Rows& rows, std::span<const std::uint64_t> which, std::span<const double> w,
                     std::span<double> gradient) {
  std::fill(gradient.begin(), gradient.end(), 0.0);
  const auto share = 1 / static_cast<double>(which.size());
  double sum = 0;
  for (const std::uint64_t row : which) {
    const double y = rows.labels()[row] > 0.5 ? 1 : -1;
    const double error = 1 / (1 + std::exp(y * product(rows, row, w)));
    sum += error;
    if (!gradient.empty()) add_row_times(rows, row, -share * y * error * (1 - error), gradient);
  }
  return share * sum;
}

std::vector<double> column_of(const Rows& rows, std::size_t column) {
  std::vector<double> out(rows.count(), 0.0);
  for (std::size_t i = 0; i < rows.count(); ++i) {
    if (rows.is_dense()) {
      out[i] = rows.dense_row(i)[column];
      continue;
    }
    const Rows::SparseRow entries = rows.sparse_row(i);
    const auto at =
        std::lower_bound(entries.indices.begin(), entries.indices.end(), static_cast<std::int32_t>(column));
    if (at != entries.indices.end() && *at == static_cast<std::int32_t>(column))
      out[i] = entries.values[static_cast<std::size_t>(at - entries.indices.begin())];
  }
  return out;
}

// Whether each value is above that of a random rank; empty if too few or too many are.
std::vector<double> above_some_value(std::vector<double> values, RandomSource& random) {
  std::vector<double> sorted = values;
  std::sort(sorted.begin(), sorted.end());
  const double threshold = sorted[uniform_below(random, sorted.size())];
  double above = 0;
  for (double& value : values) above += value = value > threshold ? 1 : 0;
  const double share = above / static_cast<double>(values.size());
  constexpr double kLeast = 0.1;
  if (share < kLeast || share > 1 - kLeast) values.clear();
  return values;
}

Rows without_column(const Rows& rows, std::size_t column, std::vector<double> labels) {
  SparseMatrix matrix;
  matrix.columns = rows.columns();
  for (std::size_t i = 0; i < rows.count(); ++i) {
    rows.for_each_entry(i, [&](std::size_t j, double value) {
      if (j != column && value != 0) matrix.add(j, value);
    });
    matrix.end_row();
  }
  return Rows::build_public(std::move(matrix), std::move(labels));
}

// The last column is the bias.
Rows with_another_question(Rows rows, RandomSource& random) {
  constexpr int kTries = 20;
  for (int i = 0; i < kTries && rows.columns() > 1; ++i) {
    const std::size_t column = uniform_below(random, rows.columns() - 1);
    std::vector<double> labels = above_some_value(column_of(rows, column), random);
    if (!labels.empty()) return without_column(rows, column, std::move(labels));
  }
  return rows;
}

Rows random_part(const Rows& rows, std::size_t count, RandomSource& random) {
  std::vector<std::uint64_t> drawn;
  sample_subset(random, rows.count(), count, drawn);
  const std::vector<std::size_t> which(drawn.begin(), drawn.end());
  return data::select_rows(std::span(&rows, 1), which);
}

}  // namespace

Task::Task(std::unique_ptr<Objective> objective, std::vector<double> start, double rate)
    : objective_(std::move(objective)), start_(std::move(start)) {
  if (objective_->rows() == 0) throw InputError("meta-training: expected a task with rows, got none");
  if (start_.empty()) start_.assign(objective_->parameters(), 0.0);
  if (start_.size() != objective_->parameters())
    throw InputError("meta-training: a task must begin at as many numbers as it has parameters");
  const auto rows = static_cast<double>(objective_->rows());
  step_rows_ = static_cast<std::size_t>(std::clamp(std::round(rate * rows), 1.0, rows));
  batch_.divisor = static_cast<double>(step_rows_);
  batch_.rows.resize(objective_->rows());
  std::iota(batch_.rows.begin(), batch_.rows.end(), std::uint64_t{0});
}

void Task::draw(RandomSource& random) {
  if (step_rows_ == objective_->rows()) return;
  sample_subset(random, objective_->rows(), step_rows_, batch_.rows);
}

void Task::clipped_mean(std::span<const double> w, const AnyClipRule& clip, std::span<double> out) {
  objective_->clipped_gradient_sum(w, batch_, clip, out);
  for (double& value : out) value /= batch_.divisor;
}

double Task::loss(std::span<const double> w, std::span<double> gradient) {
  if (judged_rows_) return smooth_errors(*judged_rows_, batch_.rows, w, gradient);
  clipped_mean(w, Abadi{kNoBound}, gradient);
  return loss(w);
}

double Task::loss(std::span<const double> w) {
  if (judged_rows_) return smooth_errors(*judged_rows_, batch_.rows, w, {});
  const std::array<Objective::Parameters, 1> candidates{w};
  double sum = 0;
  objective_->clipped_loss_sums(candidates, batch_, kNoBound, std::span(&sum, 1));
  return sum / batch_.divisor;
}

double Task::mean_loss(std::span<const double> w) {
  if (!judged_rows_) return objective_->mean_loss(w);
  std::vector<std::uint64_t> all(judged_rows_->count());
  std::iota(all.begin(), all.end(), std::uint64_t{0});
  return smooth_errors(*judged_rows_, all, w, {});
}

TaskSource random_quadratics(std::vector<double> start) {
  return [fixed = std::move(start)](RandomSource& random) {
    std::vector<QuadraticTerm> terms(60);
    for (QuadraticTerm& term : terms) {
      fill_gaussian(random, term.matrix, 1);
      fill_gaussian(random, term.target, 1);
    }
    std::vector<double> first = fixed;
    if (first.empty()) {
      first.resize(2);
      fill_gaussian(random, first, 1);
    }
    return std::make_unique<Task>(make_quadratics(std::move(terms)), std::move(first));
  };
}

TaskSource generated_tables(const GeneratedTables& options) {
  return [options](RandomSource& random) {
    return std::make_unique<Task>(make_glm(generated_rows(random, options), {.loss = options.loss}));
  };
}

TaskSource halves_of(std::shared_ptr<const Rows> rows, const GlmOptions& model, double rate, std::size_t most,
                     Judge judge) {
  if (judge == Judge::errors && !has_two_classes(model.loss))
    throw InputError("meta-training: to be judged by errors a task needs a label of two classes");
  return [rows = std::move(rows), model, rate, most, judge](RandomSource& random) {
    Rows half = random_part(*rows, std::min(most, (rows->count() + 1) / 2), random);
    if (has_two_classes(model.loss) && bernoulli(random, 0.5)) half = with_sides_changed(std::move(half));
    const auto shared = std::make_shared<const Rows>(std::move(half));
    auto task = std::make_unique<Task>(make_glm(shared, model), std::vector<double>{}, rate);
    if (judge == Judge::errors) task->judge_by_errors(shared);
    return task;
  };
}

TaskSource questions_about(std::shared_ptr<const Rows> rows, const GlmOptions& model, std::size_t most) {
  if (!has_two_classes(model.loss))
    throw InputError("meta-training: questions about a table need a model of two classes");
  return [rows = std::move(rows), model, most](RandomSource& random) {
    Rows half = random_part(*rows, std::min(most, (rows->count() + 1) / 2), random);
    if (bernoulli(random, 2.0 / 3)) half = with_another_question(std::move(half), random);
    if (bernoulli(random, 0.5)) half = with_sides_changed(std::move(half));
    return std::make_unique<Task>(make_glm(std::make_shared<const Rows>(std::move(half)), model));
  };
}

}  // namespace ration::meta
