#include "train/public_influence.h"

#include <fmt/format.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <utility>

#include "base/check.h"
#include "base/distributions.h"
#include "oracle/row_mean.h"
#include "ration/base/error.h"
#include "ration/clipping/sensitivity.h"
#include "train/model_objective.h"
#include "train/recipes/gradient_descent.h"
#include "train/row_transform.h"

namespace ration {
namespace {

constexpr const char* kWhere = "public estimate";
constexpr double kMostDraws = 2e8;
constexpr std::size_t kMostColumns = 5000;

const GradientDescentOptions& method_of(const ResolvedPlan& plan) {
  const auto* const descent = dynamic_cast<const GradientDescentPlan*>(plan.fixed());
  if (descent == nullptr) {
    throw InputError(fmt::format("public estimate: expected a method with a noise schedule (dpsgd), got {}",
                                 plan.plan.method.name()));
  }
  return descent->options();
}

double private_rows_of(const ResolvedPlan& plan) {
  if (!plan.plan.rows) throw InputError("public estimate: rows is needed: the number of private rows");
  return *plan.plan.rows;
}

// Of a coordinate of the private mean gradient, at noise multiplier 1.
double noise_unit(const ResolvedPlan& plan) {
  return gradient_sum_sensitivity(method_of(plan).clip.bound(), plan.relation) /
         (plan.rate * private_rows_of(plan));
}

// Of the public rows, with the noise that the mean of the private ones will have.
std::vector<double> noisy_mean(const ResolvedPlan& plan, const Rows& rows, RandomSource& random) {
  const RowMeanQuery query{.bound = longest_row(rows.columns()), .noise_multiplier = *plan.mean_noise};
  const TableSize private_rows{.rows = 0, .declared_rows = private_rows_of(plan)};
  std::vector<double> mean(rows.columns());
  fill_gaussian(random, mean, row_mean_stddev(query, private_rows, rows.columns(), plan.relation));
  std::vector<double> sum(rows.columns(), 0.0);
  for (std::size_t row = 0; row < rows.count(); ++row) add_row(rows, row, 1, sum);
  const double count = std::max(1.0, static_cast<double>(rows.count()));
  for (std::size_t j = 0; j < sum.size(); ++j) mean[j] += sum[j] / count;
  return mean;
}

// What a run of the plan on these rows would see.
std::shared_ptr<const Rows> rows_for(const ResolvedPlan& plan, const Model& model, data::Table table,
                                     RandomSource& random) {
  require_sound(model);
  if (table.column_names != data::encoded_column_names(model.schema)) {
    throw InputError("public estimate: the table's columns are not those of the schema");
  }
  RowTransform rows(std::move(table.rows));
  rows.add_stages_of(model);
  if (plan.mean_noise) rows.add(centring_stage(noisy_mean(plan, rows.rows(), random)));
  return rows.share_rows();
}

Model model_for(const ResolvedPlan& plan, const data::Schema& schema) {
  return untrained_model(plan.plan, fitted_to(plan.plan, schema));
}

Batch all_rows(std::size_t count) {
  Batch batch{.rows = std::vector<std::uint64_t>(count), .divisor = static_cast<double>(count)};
  std::iota(batch.rows.begin(), batch.rows.end(), std::uint64_t{0});
  return batch;
}

// Noisy gradient descent on public rows, from the same weights and with the same noise again and again.
class PublicRuns {
 public:
  PublicRuns(const ResolvedPlan& plan, const Model& model, Objective& objective, std::size_t columns,
             std::int64_t runs, RandomSource& random)
      : method_(method_of(plan)),
        objective_(objective),
        batch_(all_rows(objective.rows())),
        unit_(noise_unit(plan)),
        steps_(method_.noise.size()) {
    const double draws =
        static_cast<double>(runs) * static_cast<double>(steps_) * static_cast<double>(objective.parameters());
    require(kWhere, "runs * steps * parameters", draws, at_least(1).at_most(kMostDraws));
    for (std::int64_t run = 0; run < runs; ++run) {
      starts_.push_back(shape_of(model, columns, random).start);
      starts_.back().resize(objective.parameters());
    }
    draws_.resize(static_cast<std::size_t>(draws));
    fill_gaussian(random, draws_, unit_);
  }

  double mean_final_loss(std::span<const double> noise) {
    const std::size_t run_length = steps_ * objective_.parameters();
    double sum = 0;
    for (std::size_t run = 0; run < starts_.size(); ++run) {
      sum += final_loss(noise, starts_[run], std::span(draws_).subspan(run * run_length, run_length));
    }
    return sum / static_cast<double>(starts_.size());
  }

 private:
  double final_loss(std::span<const double> noise, const std::vector<double>& start,
                    std::span<const double> draws) {
    const std::size_t parameters = objective_.parameters();
    const auto total = static_cast<std::int64_t>(steps_);
    Weights w(start, method_.step.in_floats ? Weights::Kept::in_floats : Weights::Kept::in_doubles);
    std::vector<double> values = start;
    std::vector<double> gradient(parameters);
    const auto rule = make_step_rule(method_.step, parameters);
    IterateAverage average(method_.average, parameters, total);
    for (std::size_t t = 0; t < steps_; ++t) {
      objective_.clipped_gradient_sum(values, batch_, method_.clip, gradient);
      for (std::size_t i = 0; i < parameters; ++i) {
        gradient[i] = gradient[i] / batch_.divisor + noise[t] * draws[t * parameters + i];
      }
      const auto step = static_cast<std::int64_t>(t) + 1;
      rule->step({.value = gradient, .noise_stddev = std::abs(noise[t]) * unit_},
                 method_.learning_rate.at(step, total), w.block(0, parameters));
      w.copy_to(values);
      average.add(step, values);
    }
    average.result(values, values);
    return objective_.mean_loss(values);
  }

  GradientDescentOptions method_;
  Objective& objective_;
  Batch batch_;
  double unit_;
  std::size_t steps_;
  std::vector<std::vector<double>> starts_;  // one for each run
  std::vector<double> draws_;                // run after run, step after step, of standard deviation unit_
};

void require_quadratic(const ResolvedPlan& plan) {
  const Plan& p = plan.plan;
  const auto need = [](const char* key, std::string_view value, bool holds, const char* rule) {
    if (!holds) throw InputError(fmt::format("Hessian estimate: expected {} {}, got {}", key, rule, value));
  };
  need("model", p.model.name(), p.model == GlmLoss::squared, "squared");
  need("step", p.step.name(), p.step == StepKind::sgd || p.step == StepKind::momentum, "sgd or momentum");
  need("lr_shape", p.lr_shape.name(), p.lr_shape == RateShape::constant, "constant");
  need("warm_up", std::to_string(p.warm_up), p.warm_up == 0, "0");
  need("weight_decay", show(p.weight_decay.value_or(0)), p.weight_decay.value_or(0) == 0, "0");
  need("average", p.average.name(), p.average == Averaging::none, "none");
}

void add_to(Eigen::MatrixXd& gram, const Rows& rows, std::size_t row) {
  if (rows.is_dense()) {
    const auto x = rows.dense_row(row);
    const Eigen::Map<const Eigen::VectorXd> v(x.data(), static_cast<Eigen::Index>(x.size()));
    gram.selfadjointView<Eigen::Lower>().rankUpdate(v);
    return;
  }
  const Rows::SparseRow x = rows.sparse_row(row);
  for (std::size_t i = 0; i < x.indices.size(); ++i) {
    for (std::size_t j = 0; j <= i; ++j) gram(x.indices[i], x.indices[j]) += x.values[i] * x.values[j];
  }
}

}  // namespace

std::vector<double> influence_on_public_rows(const ResolvedPlan& plan, const data::Schema& schema,
                                             data::Table table, RandomSource& random,
                                             const PublicEstimate& options) {
  require(kWhere, "runs", static_cast<double>(options.runs), at_least(1));
  if (method_of(plan).follow) {
    throw InputError("public estimate: clip adaptive is not covered; use abadi, auto-v or auto-s");
  }
  const Model model = model_for(plan, schema);
  const auto rows = rows_for(plan, model, std::move(table), random);
  const auto objective = make_objective(model, rows);
  PublicRuns runs(plan, model, *objective, rows->columns(), options.runs, random);
  return influence_by_retraining([&](std::span<const double> noise) { return runs.mean_final_loss(noise); },
                                 method_of(plan).noise, options.retraining);
}

std::vector<double> influence_by_hessian(const ResolvedPlan& plan, const data::Schema& schema,
                                         data::Table table, RandomSource& random) {
  require_quadratic(plan);
  const auto rows = rows_for(plan, model_for(plan, schema), std::move(table), random);
  return influence_on_quadratic(hessian_eigenvalues(*rows), plan.steps(),
                                {.learning_rate = *plan.plan.lr,
                                 .momentum = plan.plan.step == StepKind::momentum ? plan.plan.momentum : 0,
                                 .noise_unit = noise_unit(plan)});
}

std::vector<double> hessian_eigenvalues(const Rows& rows) {
  require("Hessian", "columns", static_cast<double>(rows.columns()), at_least(1).at_most(kMostColumns));
  require("Hessian", "rows", static_cast<double>(rows.count()), at_least(1));
  const auto columns = static_cast<Eigen::Index>(rows.columns());
  Eigen::MatrixXd gram = Eigen::MatrixXd::Zero(columns, columns);
  for (std::size_t row = 0; row < rows.count(); ++row) add_to(gram, rows, row);
  gram /= static_cast<double>(rows.count());
  const Eigen::VectorXd values =
      Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(gram, Eigen::EigenvaluesOnly).eigenvalues();
  std::vector<double> out(values.data(), values.data() + values.size());
  for (double& value : out) value = std::max(value, 0.0);
  return out;
}

}  // namespace ration
