#include "transfer.h"

#include <fmt/format.h>

#include <chrono>

#include "base/public_random.h"
#include "meta/train_protector.h"
#include "private_run.h"
#include "ration/objectives/glm/glm.h"
#include "ration/train/fit.h"

namespace ration::e5 {
namespace {

void measure(const std::vector<double>& w, const Split& rows, TransferRun& run) {
  const auto test = make_glm(rows.test, {.threads = 1});
  std::vector<double> predictions(rows.test->count());
  test->predict(w, predictions);
  std::size_t right = 0;
  for (std::size_t i = 0; i < predictions.size(); ++i)
    right += predictions[i] == rows.test->labels()[i] ? 1 : 0;
  run.accuracy = static_cast<double>(right) / static_cast<double>(predictions.size());
  run.loss = test->mean_loss(w);
  run.objective = make_glm(rows.train, {.threads = 1})->mean_loss(w);
}

meta::MetaOptions options_for(const TrainingSettings& settings, double epsilon,
                              std::shared_ptr<const Protector> from, std::size_t threads) {
  meta::MetaOptions options;
  options.budget = {epsilon, kDelta};
  options.rows = settings.private_rows;
  options.steps = settings.steps;
  options.epochs = from ? settings.epochs : settings.first_epochs;
  options.from = std::move(from);
  options.pretraining_epochs = 0;  // the protectors of larger epsilons are it
  options.unrolls = settings.unrolls;
  options.learning_rate = 0.01;
  options.validation_tasks = settings.validation_tasks;
  options.threads = threads;
  return options;
}

}  // namespace

std::vector<std::shared_ptr<const Protector>> train_protectors(const PublicData& practice,
                                                               const TrainingSettings& settings,
                                                               const std::vector<double>& epsilons,
                                                               std::size_t threads,
                                                               std::vector<TrainingRecord>& records) {
  std::vector<std::shared_ptr<const Protector>> protectors(epsilons.size());
  const meta::TaskSource tasks = settings.other_questions
                                     ? meta::questions_about(practice.all, {.threads = 1}, settings.task_rows)
                                     : meta::halves_of(practice.all, {.threads = 1}, 1, settings.task_rows);
  std::shared_ptr<const Protector> last;
  for (std::size_t i = epsilons.size(); i-- > 0;) {
    const meta::MetaOptions options = options_for(settings, epsilons[i], last, threads);
    ProtectorOrigin origin;
    origin.tasks = "table";
    origin.model = "logistic";
    const auto begin = std::chrono::steady_clock::now();
    protectors[i] = last =
        std::make_shared<const Protector>(meta::train_protector(options, tasks, tasks, std::move(origin)));
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    const meta::ProtectorScore score = meta::score_protector(*last, options, tasks, 10, 99);
    records.push_back({practice.name, epsilons[i], options.epochs, seconds, score.loss, score.start,
                       score.spent, score.steps});
    fmt::print(stderr, "{} epsilon {}: validation {:.4f} of {:.4f}, spent {:.4f}, {:.1f} steps, {:.0f} s\n",
               practice.name, epsilons[i], score.loss, score.start, score.spent, score.steps, seconds);
  }
  return protectors;
}

std::shared_ptr<const Protector> without_scheduler(Protector protector) {
  protector.scheduler.clear();
  return std::make_shared<const Protector>(std::move(protector));
}

TransferRun protected_run(const PublicData& to, const std::shared_ptr<const Protector>& protector,
                          std::size_t repeat) {
  const Split rows = to.split(repeat);
  const auto objective = make_glm(rows.train, {.threads = 1});
  const Budget budget{protector->origin.epsilon, protector->origin.delta};
  const PrivateRun run =
      run_protector(*objective, protector, {}, {budget, Accountant::gdp, 1000 + repeat, false});
  TransferRun out;
  out.to = to.name;
  out.method = protector->scheduler.empty() ? "L2P-Proj" : "L2P";
  out.epsilon = budget.epsilon;
  out.repeat = repeat;
  out.spent = run.spent;
  measure(run.last(), rows, out);
  return out;
}

TransferRun baseline_run(const PublicData& to, const std::string& method, double epsilon,
                         std::size_t repeat) {
  const Split rows = to.split(repeat);
  Plan plan;
  plan.method = method;
  plan.epsilon = epsilon;
  plan.delta = kDelta;
  plan.rows = static_cast<double>(rows.train->count());
  const ResolvedPlan resolved = resolve(plan);
  const data::Schema schema = fitted_to(resolved.plan, to.schema);
  const Split fitted =
      schema.max_row_norm
          ? Split{std::make_shared<const Rows>(rows.train->with_row_norms_at_most(*schema.max_row_norm)),
                  std::make_shared<const Rows>(rows.test->with_row_norms_at_most(*schema.max_row_norm))}
          : rows;
  PublicRandom random(2000 + repeat);
  const Fitted model = fit(resolved, schema, fitted.train, random, {.threads = 1, .certificate = false});
  TransferRun out;
  out.to = to.name;
  out.method = method;
  out.epsilon = epsilon;
  out.repeat = repeat;
  measure(model.model.weights, fitted, out);
  return out;
}

}  // namespace ration::e5
