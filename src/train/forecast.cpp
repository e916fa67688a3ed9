#include "ration/train/forecast.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <random>
#include <utility>

#include "base/check.h"
#include "base/public_random.h"
#include "data/add_hats.h"
#include "ration/base/error.h"
#include "ration/privacy/accountant.h"
#include "ration/train/fit.h"
#include "train/made_up.h"
#include "train/model_shape.h"

namespace ration {
namespace {

constexpr std::size_t kTestRows = 4000;

void require_facts(const Plan& plan, const data::Schema& schema) {
  if (!plan.unit.empty() || !schema.unit.empty()) {
    throw InputError(
        "plan: a forecast makes up rows, not units of several; leave unit out of schema and plan, and give "
        "the number of units as rows (--rows N): a unit tells about as much as a row");
  }
  if (!plan.rows) {
    throw InputError("plan: a forecast needs the declared number of rows; give rows = N (--rows N)");
  }
  if (!plan.epsilon || !plan.delta)
    throw InputError("plan: a forecast needs epsilon and delta: it tells what they buy");
  if (plan.method != MethodKind::automatic || plan.model.is_network() || plan.model.sees_scattering()) {
    throw InputError(fmt::format("plan: a forecast knows linear models of method auto, not {} with model {}",
                                 plan.method.name(), plan.model.name()));
  }
  if (schema.image || schema.text)
    throw InputError("schema: a forecast makes up tables with columns, not images or texts");
  if (schema.classes() < 2)
    throw InputError("schema: a forecast needs a label with classes; split a number in two by above = X");
}

// A plan that does to fewer rows what `plan` does to those it declares: noise is as much smaller. Its budget
// is what that costs.
ResolvedPlan scaled_down(const ResolvedPlan& resolved, const Plan& plan, std::size_t rows) {
  Plan smaller = plan;
  smaller.rows = static_cast<double>(rows);
  smaller.noise = resolved.noise_multiplier * static_cast<double>(rows) / *plan.rows;
  smaller.accountant = Accountant::gdp;
  smaller.features = Features::linear;  // the schema has its knots already
  const Event event = Event::gaussian(*smaller.noise);
  smaller.epsilon =
      1.01 * account(event, resolved.relation, Accountant::gdp, *plan.delta * 0.99).epsilon + 1e-6;
  smaller.ledger.clear();
  smaller.data.clear();
  smaller.schema.clear();
  return resolve(smaller);
}

struct TrainAndTest {
  std::shared_ptr<const Rows> train;
  data::Table test;
};

SparseMatrix part_of(const SparseMatrix& all, std::size_t first, std::size_t count) {
  SparseMatrix part;
  part.columns = all.columns;
  for (std::size_t row = first; row < first + count; ++row) {
    for (std::size_t k = all.starts[row]; k < all.starts[row + 1]; ++k)
      part.add(static_cast<std::size_t>(all.indices[k]), all.values[k]);
    part.end_row();
  }
  return part;
}

std::vector<double> drawn_labels(const MadeUp& table, std::size_t rows, PublicRandom& random) {
  std::vector<double> labels;
  for (std::size_t row = 0; row < rows; ++row) {
    const auto shares = table.probabilities_of(row);
    labels.push_back(
        static_cast<double>(std::discrete_distribution<int>(shares.begin(), shares.end())(random)));
  }
  return labels;
}

// Rows for a schema that may have knots.
Rows with_knots(const Rows& rows, const data::Schema& before, const data::Schema& schema) {
  if (data::encoded_column_names(before).size() == data::encoded_column_names(schema).size()) return rows;
  return data::add_hats(rows, before, schema);
}

double output_of(const Model& model, const Rows& rows, std::size_t row) {
  double sum = 0;
  rows.for_each_entry(row, [&](std::size_t column, double value) { sum += value * model.weights[column]; });
  return sum;
}

// How often a row of the last class is above one of the other, rows counting by their probabilities.
double expected_auc(const std::vector<double>& outputs, std::span<const double> of_last) {
  std::vector<std::size_t> order(outputs.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return outputs[a] < outputs[b]; });
  double below = 0;
  double pairs = 0;
  double last = 0;
  for (std::size_t first = 0; first < order.size();) {
    double others_here = 0;
    double last_here = 0;
    const double output = outputs[order[first]];
    for (; first < order.size() && outputs[order[first]] == output; ++first) {
      last_here += of_last[order[first]];
      others_here += 1 - of_last[order[first]];
    }
    pairs += last_here * (below + others_here / 2);
    below += others_here;
    last += last_here;
  }
  return last > 0 && below > 0 ? pairs / (last * below) : 0.5;
}

ForecastScore score_of(const Model& model, const Rows& test, const MadeUp& table, std::size_t first) {
  std::vector<std::string> names = data::encoded_column_names(model.schema);
  const data::Table rows{.rows = test, .column_names = std::move(names), .classes = {}};
  const std::vector<double> predictions = predict(model, rows);
  ForecastScore score;
  std::vector<double> outputs, of_last;
  for (std::size_t row = 0; row < predictions.size(); ++row) {
    const auto shares = table.probabilities_of(first + row);
    score.accuracy += shares[static_cast<std::size_t>(predictions[row])];
    of_last.push_back(shares.back());
    if (model.loss != GlmLoss::softmax) outputs.push_back(output_of(model, test, row));
  }
  score.accuracy /= static_cast<double>(predictions.size());
  if (!outputs.empty()) score.auc = expected_auc(outputs, of_last);
  return score;
}

ForecastScore mean_of(const std::vector<ForecastScore>& scores) {
  ForecastScore mean{.accuracy = 0, .auc = scores.front().auc ? std::optional(0.0) : std::nullopt};
  for (const ForecastScore& one : scores) {
    mean.accuracy += one.accuracy / static_cast<double>(scores.size());
    if (mean.auc) *mean.auc += *one.auc / static_cast<double>(scores.size());
  }
  return mean;
}

// What can be done to a table, whichever it is.
class Forecaster {
 public:
  Forecaster(const Plan& plan, const data::Schema& schema, const ForecastOptions& options)
      : options_(options), plan_(plan), schema_(schema) {
    for (data::Column& column : schema_.columns) column.knots.clear();
    rows_ = static_cast<std::size_t>(std::min(*plan.rows, static_cast<double>(options.most_rows)));
    for (const double factor : {0.5, 1.0, 2.0}) {
      Plan one = plan;
      one.epsilon = factor * *plan.epsilon;
      const ResolvedPlan resolved = resolve(one);
      one.method = resolved.plan.method;  // auto may have chosen another
      epsilons_.push_back(*one.epsilon);
      schemas_.push_back(fitted_to(one, schema_));
      if (resolved.plan.method == MethodKind::automatic) {
        plans_.emplace_back(scaled_down(resolved, one, rows_));
      } else {
        plans_.emplace_back(std::nullopt);
      }
    }
    Plan open;
    open.method = MethodKind::nonprivate;
    open.model = plan.model;
    open.huber_width = plan.huber_width;
    open.features = Features::linear;
    open.rows = static_cast<double>(rows_);
    open.epsilon = plan.epsilon;  // not spent
    open.delta = plan.delta;
    open_plan_ = resolve(open);
  }

  const std::vector<double>& epsilons() const { return epsilons_; }
  std::size_t rows() const { return rows_; }

  ForecastTable on(double possible, double share, std::uint64_t seed) const {
    const MadeUp table = make_up(schema_, {rows_ + kTestRows, possible, share, seed});
    PublicRandom random(seed + 1);
    const Rows train = Rows::build(part_of(table.features, 0, rows_), drawn_labels(table, rows_, random));
    const Rows test =
        Rows::build(part_of(table.features, rows_, kTestRows), std::vector<double>(kTestRows, 0.0));
    ForecastTable out{
        .possible = table.possible(), .largest = table.largest(), .without_privacy = {}, .with_privacy = {}};
    PublicRandom bits(seed + 2);
    const auto fitted_score = [&](const ResolvedPlan& plan, const data::Schema& schema) {
      const auto rows = std::make_shared<const Rows>(with_knots(train, schema_, schema));
      const Fitted fitted = fit(plan, schema, rows, bits,
                                {.threads = options_.threads, .certificate = false, .error_bars = false});
      return score_of(fitted.model, with_knots(test, schema_, schema), table, rows_);
    };
    out.without_privacy = fitted_score(open_plan_, schemas_.back());
    for (std::size_t e = 0; e < plans_.size(); ++e) {
      if (!plans_[e]) {
        out.with_privacy.push_back(
            {.accuracy = out.largest, .auc = out.without_privacy.auc ? std::optional(0.5) : std::nullopt});
        continue;
      }
      std::vector<ForecastScore> scores;
      for (std::size_t r = 0; r < options_.repeats; ++r)
        scores.push_back(fitted_score(*plans_[e], schemas_[e]));
      out.with_privacy.push_back(mean_of(scores));
    }
    return out;
  }

 private:
  ForecastOptions options_;
  Plan plan_;
  data::Schema schema_;  // without knots
  std::size_t rows_;
  std::vector<double> epsilons_;
  std::vector<data::Schema> schemas_;               // with knots, by budget
  std::vector<std::optional<ResolvedPlan>> plans_;  // none: the frequencies of the classes
  ResolvedPlan open_plan_;
};

struct Kind {
  double possible, share;
};

// Of several classes the share is that of each.
std::vector<Kind> kinds(std::size_t classes) {
  if (classes == 2) return {{0.65, 0.5}, {0.75, 0.5}, {0.85, 0.5}, {0.95, 0.5}, {0.85, 0.25}, {0.95, 0.1}};
  const double even = 1 / static_cast<double>(classes);
  std::vector<Kind> all;
  for (const double possible : {0.65, 0.75, 0.85, 0.95}) {
    if (possible > even + 0.1) all.push_back({possible, even});
  }
  return all;
}

}  // namespace

Forecast forecast(const Plan& plan, const data::Schema& schema, const ForecastOptions& options) {
  require("forecast", "most_rows", static_cast<double>(options.most_rows), at_least(100));
  require("forecast", "repeats", static_cast<double>(options.repeats), at_least(1));
  require_facts(plan, schema);
  const Forecaster forecaster(plan, schema, options);
  Forecast out{.epsilons = forecaster.epsilons(),
               .rows = static_cast<std::size_t>(*plan.rows),
               .simulated = forecaster.rows(),
               .tables = {}};
  std::uint64_t seed = options.seed;
  for (const Kind& kind : kinds(schema.classes()))
    out.tables.push_back(forecaster.on(kind.possible, kind.share, seed += 1000));
  return out;
}

}  // namespace ration
