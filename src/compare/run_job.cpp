#include "compare/run_job.h"

#include <ctime>

#include "ration/base/error.h"
#include "ration/train/fit.h"
#include "train/evaluation.h"
#include "train/model_objective.h"
#include "train/row_transform.h"

namespace ration::compare {
namespace {

constexpr std::size_t kMostPoints = 200;

double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// Counts steps, and keeps their way if it is wanted.
class Watcher final : public Observer {
 public:
  explicit Watcher(bool keeps_way) : keeps_way_(keeps_way) {}

  void on_step(const Progress& progress) override {
    steps_ = progress.step.step;
    if (!keeps_way_) return;
    way_.push_back({.step = progress.step.step,
                    .budget_share = progress.budget_share,
                    .learning_rate = progress.step.learning_rate,
                    .noise = progress.step.noise_stddev});
  }

  std::int64_t steps() const { return steps_; }
  // The first, the last, and evenly spread ones between them.
  std::vector<TracePoint> way() const {
    if (way_.size() <= kMostPoints) return way_;
    std::vector<TracePoint> points;
    for (std::size_t i = 0; i < kMostPoints; ++i)
      points.push_back(way_[i * (way_.size() - 1) / (kMostPoints - 1)]);
    return points;
  }

 private:
  bool keeps_way_;
  std::int64_t steps_ = 0;
  std::vector<TracePoint> way_;
};

// As the model sees them: its schema may have knots that the comparison's has not.
std::shared_ptr<const Rows> seen_by(const Model& model, const data::Schema& schema,
                                    std::shared_ptr<const Rows> rows) {
  RowTransform transform(std::move(rows));
  transform.add(hats_stage(schema, model.schema));
  return transform.share_rows();
}

// One thread, by the loss of the comparison's model, whichever the method was trained with.
void measure(const Plan& measured_by, const Model& trained, const data::Schema& schema, const FoldRows& rows,
             Run& run) {
  Model model = untrained_model(measured_by, trained.schema);
  model.weights = trained.weights;
  require_sound(model);
  const Evaluation test = evaluate_rows(model, seen_by(model, schema, rows.test), 1);
  run.accuracy = test.accuracy;
  run.auc = test.auc;
  run.log_loss = test.log_loss;
  run.r2 = test.r2;
  run.mean_absolute_error = test.mean_absolute_error;
  run.loss = test.loss;
  const auto train = seen_by(model, schema, rows.train);
  run.objective = make_objective(model, train, {.threads = 1})->mean_loss(model.weights);
}

void state_privacy(const ResolvedPlan& plan, Run& run) {
  run.epsilon_spent = plan.cost.epsilon;
  run.noise_multiplier = plan.noise_multiplier;
  run.accountant = to_string(plan.accountant);
  run.relation = to_string(plan.relation);
}

void train_and_measure(const Job& job, const Comparison& comparison, const ResolvedPlan& plan,
                       const data::Schema& schema, const FoldRows& rows, JobOutcome& out) {
  Watcher watcher(job.repeat == 0 && job.fold == 0);
  const double start = processor_seconds();
  const Fitted fitted =
      fit(plan, schema, rows.train, SecureRandom::for_this_thread(),
          {.threads = 1, .observers = {&watcher}, .certificate = false, .error_bars = false});
  out.run.seconds = processor_seconds() - start;
  out.run.steps = watcher.steps();
  out.trace.points = watcher.way();
  measure(measuring_plan(comparison, comparison.models[job.model]), fitted.model, schema, rows, out.run);
  if (comparison.methods[job.method].is_private) state_privacy(plan, out.run);
}

}  // namespace

JobOutcome run_job(const Job& job, const Comparison& comparison, JobInputs& inputs, Held& held) {
  JobOutcome out;
  out.run.name = name_of(job, comparison);
  out.trace.name = out.run.name;
  const auto plan = inputs.plan(job, inputs.rows(job, std::nullopt, held).train->count());
  if (!plan->plan) {
    out.run.refused = plan->refused;
    return out;
  }
  try {
    inputs.require_other_data(*plan->plan, job, held);
    const FoldRows rows = inputs.rows(job, plan->plan->plan.row_norm, held);
    train_and_measure(job, comparison, *plan->plan, inputs.schema(job, held), rows, out);
  } catch (const InputError& error) {
    out = {.run = {.name = out.run.name, .refused = error.what()},
           .trace = {.name = out.run.name, .points = {}}};
  } catch (const BudgetRefused& error) {
    out = {.run = {.name = out.run.name, .refused = error.what()},
           .trace = {.name = out.run.name, .points = {}}};
  }
  return out;
}

}  // namespace ration::compare
