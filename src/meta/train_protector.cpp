#include "ration/meta/train_protector.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "base/parallel.h"
#include "meta/constraint.h"
#include "meta/public_random.h"
#include "meta/unroll.h"
#include "methods/protector/step_formulas.h"
#include "ration/base/check.h"
#include "ration/base/distributions.h"
#include "ration/base/error.h"
#include "ration/sampling/fixed_size.h"
#include "ration/sampling/full.h"
#include "ration/steps/step_rule.h"

namespace ration::meta {
namespace {

using Weights = ProtectorWeights<float>;

constexpr std::array kTrainings = {std::pair{SchedulerTraining::soft, "soft"},
                                   std::pair{SchedulerTraining::lagrangian, "lagrangian"},
                                   std::pair{SchedulerTraining::batch, "batch"},
                                   std::pair{SchedulerTraining::batch_soft, "batch-soft"}};

void validate(const MetaOptions& options) {
  constexpr std::string_view kName = "meta-training";
  require(kName, "epsilon", options.budget.epsilon, greater_than(0));
  require(kName, "delta", options.budget.delta, greater_than(0).less_than(1));
  require(kName, "steps", static_cast<double>(options.steps), at_least(1).at_most(1e5));
  require(kName, "learning_rate", options.learning_rate, greater_than(0));
  require(kName, "output_scale", options.output_scale, greater_than(0));
  require(kName, "batch", static_cast<double>(options.batch), at_least(1));
  require(kName, "epochs", static_cast<double>(options.epochs), at_least(1));
  require(kName, "validate_every", static_cast<double>(options.validate_every), at_least(1));
  require(kName, "validation_tasks", static_cast<double>(options.validation_tasks), at_least(1));
  if (options.norm == NormSource::released && options.relation == Relation::add_remove)
    throw InputError("meta-training: a released norm needs relation replace_one, under which the number of rows is public");
}

// --- weights

// Small, and gates that remember: the forget gates begin open. The readout is small too, so that the first updates are.
std::vector<float> random_weights(const protector::LstmShape& shape, RandomSource& random) {
  std::vector<double> draws(shape.parameters());
  fill_gaussian(random, draws, 0.1);
  std::vector<float> weights(draws.begin(), draws.end());
  constexpr std::size_t kForget = 1;
  const auto open_forget_gates = [&](std::size_t first, std::size_t unit_size) {
    for (std::size_t u = 0; u < shape.units; ++u) weights[first + u * unit_size + kForget] = 1;
  };
  open_forget_gates(0, shape.first_layer() / shape.units);
  open_forget_gates(shape.first_layer(), shape.second_layer() / shape.units);
  return weights;
}

// Adam on one list of weights, with gradients that are shortened to 1.
class Learner {
 public:
  Learner(std::vector<float>& weights, double learning_rate)
      : weights_(weights),
        learning_rate_(learning_rate),
        rule_(weights.empty() ? nullptr : make_step_rule({.kind = StepKind::adam}, weights.size())),
        values_(weights.begin(), weights.end()) {}

  // `share`: of the training that is over.
  void step(std::span<const float> gradient, double share) {
    std::vector<double> direction(gradient.begin(), gradient.end());
    const double length =
        std::sqrt(std::inner_product(direction.begin(), direction.end(), direction.begin(), 0.0));
    if (!std::isfinite(length)) return;
    for (double& value : direction) value /= std::max(1.0, length);
    rule_->step({.value = direction}, learning_rate_ * (1 - 0.9 * share), values_);
    std::copy(values_.begin(), values_.end(), weights_.begin());
  }

 private:
  std::vector<float>& weights_;
  double learning_rate_;
  std::unique_ptr<StepRule> rule_;
  std::vector<double> values_;
};

// --- one stage of training

struct Stage {
  std::string name;
  double epsilon;
  double noise_injected;
  bool with_scheduler;
  std::int64_t epochs;
};

// Without noise, then from an epsilon that is sixteen times as large down to the true one. [L2P, App. B.7]
std::vector<Stage> stages_of(const MetaOptions& options) {
  const double epsilon = options.budget.epsilon;
  std::vector<Stage> stages;
  const std::int64_t each = options.pretraining_epochs / 3;
  if (each > 0) {
    stages.push_back({"without noise", 16 * epsilon, 0, false, each});
    stages.push_back({fmt::format("epsilon {}", show(16 * epsilon)), 16 * epsilon, 1, false, each});
    stages.push_back({fmt::format("epsilon {}", show(4 * epsilon)), 4 * epsilon, 1, false, each});
  }
  stages.push_back({fmt::format("epsilon {}", show(epsilon)), epsilon, 1, options.scheduler, options.epochs});
  return stages;
}

Protector protector_of(const MetaOptions& options, const Weights& weights) {
  return {.units = options.units,
          .output_scale = options.output_scale,
          .norm = options.norm,
          .norm_noise_ratio = options.norm_noise_ratio,
          .scheduler = weights.scheduler,
          .projector = weights.projector};
}

// What a budget means for a task. `releases_norm` decides what a step costs.
Protection protection_for(const MetaOptions& options, const Protector& protector, double epsilon, const Task& task) {
  const std::size_t rows = task.step_rows();
  const std::size_t all = task.rows();
  const Budget budget{epsilon, options.budget.delta};
  const bool sampled = rows < all;
  const FullSampler full({.rows = all, .declared_rows = static_cast<double>(all)}, options.relation);
  std::optional<FixedSizeSampler> fixed;
  if (sampled) fixed.emplace(all, rows);
  const Sampler& sampler = sampled ? static_cast<const Sampler&>(*fixed) : full;
  const NoiseRange range = protector_noise(protector, sampler, options.accountant, budget, options.steps);
  const bool releases = !protector.scheduler.empty() && options.norm == NormSource::released;
  return {.clip = options.clip,
          .sensitivity = options.clip.sensitivity(sampler.relation()),
          .norm_sensitivity =
              releases ? squared_norm_sensitivity(options.clip.bound(), rows, sampler.relation()) : 0,
          .even = range.even,
          .least = range.least,
          .steps = static_cast<double>(options.steps),
          .norm_noise = options.norm_noise_ratio * range.even};
}

class MetaTrainer {
 public:
  MetaTrainer(const MetaOptions& options, const TaskSource& tasks, const TaskSource& validation,
              const std::function<void(const MetaProgress&)>& tell);

  Protector run(ProtectorOrigin origin);

 private:
  void train(const Stage& stage, std::int64_t epochs_before);
  void update_projector(const Stage& stage);
  void update_scheduler(const Stage& stage);
  void learn_soft(Unroll<float>& unroll, double scale);
  void learn_lagrangian(Unroll<float>& unroll, double scale);
  void learn_in_batches(Task& task, const Protection& protection, double scale);
  void learn_projector(Unroll<float>& unroll, std::size_t steps, double scale);
  Protection protection(const Stage& stage, const Task& task);
  std::size_t unroll_length() const { return static_cast<std::size_t>(options_.steps * 3 / 2 + 1); }
  Unroll<float>::Shape shape() const { return {options_.units, options_.output_scale}; }
  void validate_now(bool last_stage);
  bool asked_to_stop() const { return options_.stop != nullptr && options_.stop->load(std::memory_order_relaxed); }
  Weights active(bool with_scheduler) const {
    return {with_scheduler ? weights_.scheduler : std::vector<float>{}, weights_.projector};
  }

  const MetaOptions& options_;
  const TaskSource& tasks_;
  const TaskSource& validation_;
  const std::function<void(const MetaProgress&)>& tell_;
  std::size_t threads_;
  PublicRandom random_;
  Weights weights_;
  Learner projector_learner_, scheduler_learner_;
  AugmentedLagrangian lagrangian_;
  std::optional<BatchBudgets> budgets_;
  double share_done_ = 0;
  double last_loss_ = 1;
  Weights best_;
  double best_loss_ = std::numeric_limits<double>::infinity();
  double start_loss_ = 0;
  std::int64_t since_best_ = 0;
  // Noise ranges are found by a search, and are the same for all tasks that are sampled alike.
  struct Known {
    double epsilon, rate;
    bool scheduler;
    Protection protection;
  };
  std::vector<Known> known_;
};

MetaTrainer::MetaTrainer(const MetaOptions& options, const TaskSource& tasks, const TaskSource& validation,
                         const std::function<void(const MetaProgress&)>& tell)
    : options_(options),
      tasks_(tasks),
      validation_(validation),
      tell_(tell),
      threads_(thread_count(options.threads)),
      random_(options.seed),
      weights_{options.scheduler ? random_weights({Protector::kSchedulerInputs, options.units}, random_)
                                 : std::vector<float>{},
               random_weights({Protector::kProjectorInputs, options.units}, random_)},
      projector_learner_(weights_.projector, options.learning_rate),
      scheduler_learner_(weights_.scheduler, options.learning_rate) {}

Protection MetaTrainer::protection(const Stage& stage, const Task& task) {
  const double rate = static_cast<double>(task.step_rows()) / static_cast<double>(task.rows());
  const auto same = [&](const Known& one) {
    return one.epsilon == stage.epsilon && one.rate == rate && one.scheduler == stage.with_scheduler;
  };
  auto known = std::find_if(known_.begin(), known_.end(), same);
  if (known == known_.end()) {
    const Protector protector = protector_of(options_, active(stage.with_scheduler));
    known_.push_back({stage.epsilon, rate, stage.with_scheduler,
                      protection_for(options_, protector, stage.epsilon, task)});
    known = known_.end() - 1;
  }
  Protection protection = known->protection;
  if (protection.norm_sensitivity > 0)
    protection.norm_sensitivity =
        squared_norm_sensitivity(options_.clip.bound(), task.step_rows(), options_.relation);
  protection.noise_injected = stage.noise_injected;
  return protection;
}

// The mean of the losses over each batch of steps [L2P, Sec. 5]; over a whole unroll, half of the weight is on the losses around
// the step at which even noise has used up the budget, since what counts is the end.
void MetaTrainer::learn_projector(Unroll<float>& unroll, std::size_t steps, double scale) {
  std::vector<double> by_loss(steps, scale / static_cast<double>(steps));
  if (options_.whole_unrolls) {
    std::vector<double> h(steps);
    std::partial_sum(unroll.costs().begin(), unroll.costs().end(), h.begin());
    for (double& value : h) value -= 1 + 1e-9;
    const SoftObjective soft = soft_objective(unroll.losses(), h, 2);
    for (std::size_t t = 0; t < steps; ++t)
      by_loss[t] = scale * (t < soft.end ? 0.3 / static_cast<double>(soft.end) : 0) + 0.7 * scale * soft.by_loss[t];
  }
  const std::vector<double> by_cost(steps, 0.0);
  Weights gradient{{}, std::vector<float>(weights_.projector.size(), 0.0f)};
  unroll.back(weights_, by_loss, by_cost, gradient);
  projector_learner_.step(gradient.projector, share_done_);
}

void MetaTrainer::update_projector(const Stage& stage) {
  const auto task = tasks_(random_);
  const Protection protection = this->protection(stage, *task);
  const double scale = 1 / std::max(1e-12, task->loss(task->start()));
  const std::size_t length = unroll_length();
  const std::size_t batch = options_.whole_unrolls ? length : std::min(options_.batch, length);
  Unroll<float> unroll(*task, protection, shape(), random_, batch, threads_);
  for (std::size_t done = 0; done + batch <= length; done += batch) {
    unroll.run(active(stage.with_scheduler), batch);
    if (!std::isfinite(unroll.losses().back())) return;
    learn_projector(unroll, batch, scale);
  }
  last_loss_ = unroll.losses().back() * scale;
}

void MetaTrainer::update_scheduler(const Stage& stage) {
  const auto task = tasks_(random_);
  const Protection protection = this->protection(stage, *task);
  const double scale = 1 / std::max(1e-12, task->loss(task->start()));
  if (options_.training == SchedulerTraining::batch || options_.training == SchedulerTraining::batch_soft)
    return learn_in_batches(*task, protection, scale);
  Unroll<float> unroll(*task, protection, shape(), random_, 2 * unroll_length(), threads_);
  if (options_.training == SchedulerTraining::soft) return learn_soft(unroll, scale);
  learn_lagrangian(unroll, scale);
}

// Until the budget is used up for certain, or as long as memory was set aside for.
void MetaTrainer::learn_soft(Unroll<float>& unroll, double scale) {
  const std::size_t steps = 2 * unroll_length();
  unroll.run(weights_, steps);
  std::vector<double> h(steps);
  std::partial_sum(unroll.costs().begin(), unroll.costs().end(), h.begin());
  for (double& value : h) value -= 1;
  const SoftObjective soft = soft_objective(unroll.losses(), h, 2);
  std::vector<double> by_loss = soft.by_loss;
  std::vector<double> by_cost = meta::by_cost(soft.by_h);
  for (double& value : by_loss) value *= scale;
  for (double& value : by_cost) value *= scale;
  Weights gradient{std::vector<float>(weights_.scheduler.size(), 0.0f), {}};
  unroll.back(weights_, by_loss, by_cost, gradient);
  scheduler_learner_.step(gradient.scheduler, share_done_);
}

// The multiplier first, so that one unroll serves both. [L2P, App. B.2]
void MetaTrainer::learn_lagrangian(Unroll<float>& unroll, double scale) {
  const auto steps = static_cast<std::size_t>(options_.steps);
  unroll.run(weights_, steps);
  const double h = unroll.cost() - 1;
  lagrangian_.update(h);
  std::vector<double> by_loss(steps, 0.0);
  by_loss.back() = scale;
  const std::vector<double> by_cost(steps, lagrangian_.slope(h));
  Weights gradient{std::vector<float>(weights_.scheduler.size(), 0.0f), {}};
  unroll.back(weights_, by_loss, by_cost, gradient);
  scheduler_learner_.step(gradient.scheduler, share_done_);
}

// Two passes: the first learns from each batch by itself, the second, with the protector as it is, finds what each batch spends
// and shifts the budgets between them.
void MetaTrainer::learn_in_batches(Task& task, const Protection& protection, double scale) {
  const std::size_t length = static_cast<std::size_t>(options_.steps);
  const std::size_t batch = std::min(options_.batch, length);
  const std::size_t batches = length / batch;
  if (!budgets_) budgets_.emplace(batches);
  Unroll<float> first(task, protection, shape(), random_, batch, threads_);
  for (std::size_t b = 0; b < batches; ++b) {
    first.run(weights_, batch);
    const std::vector<double> by_loss(batch, scale / static_cast<double>(batch));
    const std::vector<double> by_cost(batch, budgets_->slope(b, first.cost()));
    Weights gradient{std::vector<float>(weights_.scheduler.size(), 0.0f), {}};
    first.back(weights_, by_loss, by_cost, gradient);
    scheduler_learner_.step(gradient.scheduler, share_done_);
  }
  Unroll<float> second(task, protection, shape(), random_, batch, threads_);
  std::vector<double> costs, losses;
  for (std::size_t b = 0; b < batches; ++b) {
    second.run(weights_, batch);
    costs.push_back(second.cost());
    const double sum = std::accumulate(second.losses().begin(), second.losses().end(), 0.0);
    losses.push_back(scale * sum / static_cast<double>(batch));
  }
  if (options_.training == SchedulerTraining::batch) budgets_->update_hard(costs);
  if (options_.training == SchedulerTraining::batch_soft) budgets_->update_soft(costs, losses);
}

void MetaTrainer::validate_now(bool last_stage) {
  if (!last_stage) return;
  const Protector now = protector_of(options_, weights_);
  const ProtectorScore score =
      score_protector(now, options_, validation_, options_.validation_tasks, options_.seed + 1);
  start_loss_ = score.start;
  ++since_best_;
  if (!(score.loss < best_loss_)) return;
  best_loss_ = score.loss;
  best_ = weights_;
  since_best_ = 0;
}

void MetaTrainer::train(const Stage& stage, std::int64_t epochs_before) {
  const std::int64_t all = [&] {
    std::int64_t sum = 0;
    for (const Stage& one : stages_of(options_)) sum += one.epochs;
    return sum;
  }();
  const bool last = epochs_before + stage.epochs == all;
  for (std::int64_t epoch = 1; epoch <= stage.epochs; ++epoch) {
    share_done_ = static_cast<double>(epochs_before + epoch - 1) / static_cast<double>(all);
    if (stage.with_scheduler) update_scheduler(stage);
    for (std::int64_t i = 0; i < options_.projector_updates; ++i) update_projector(stage);
    if (epoch % options_.validate_every == 0 || epoch == stage.epochs) validate_now(last);
    if (tell_)
      tell_({.stage = stage.name,
             .epoch = epochs_before + epoch,
             .epochs = all,
             .training_loss = last_loss_,
             .validation_loss = best_loss_});
    if (asked_to_stop() || (last && since_best_ >= options_.patience)) return;
  }
}

Protector MetaTrainer::run(ProtectorOrigin origin) {
  std::int64_t epochs = 0;
  for (const Stage& stage : stages_of(options_)) {
    if (asked_to_stop()) break;
    train(stage, epochs);
    epochs += stage.epochs;
  }
  if (best_.projector.empty())
    throw InputError("meta-training: no protector reached a finite loss; try a smaller learning rate or output scale");
  Protector out = protector_of(options_, best_);
  origin.epsilon = options_.budget.epsilon;
  origin.delta = options_.budget.delta;
  origin.steps = options_.steps;
  origin.epochs = epochs;
  origin.validation_loss = best_loss_;
  origin.untrained_loss = start_loss_;
  origin.version = RATION_VERSION;
  out.origin = std::move(origin);
  return protector_from_json(to_json(out), "protector");  // with the digits that a file has
}

}  // namespace

std::string_view to_string(SchedulerTraining training) {
  for (const auto& [value, name] : kTrainings) {
    if (value == training) return name;
  }
  throw InternalError("SchedulerTraining: unknown");
}

SchedulerTraining scheduler_training_named(std::string_view name) {
  for (const auto& [value, known] : kTrainings) {
    if (name == known) return value;
  }
  throw InputError(
      fmt::format("scheduler: expected one of soft, lagrangian, batch, batch-soft, got '{}'", name));
}

Protector train_protector(const MetaOptions& options, const TaskSource& tasks, const TaskSource& validation,
                          ProtectorOrigin origin, const std::function<void(const MetaProgress&)>& tell) {
  validate(options);
  return MetaTrainer(options, tasks, validation, tell).run(std::move(origin));
}

ProtectorScore score_protector(const Protector& protector, const MetaOptions& options, const TaskSource& tasks,
                               std::int64_t count, std::uint64_t seed) {
  PublicRandom random(seed);
  const Weights weights{protector.scheduler, protector.projector};
  ProtectorScore score;
  std::optional<Protection> protection;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto task = tasks(random);
    if (!protection || task->step_rows() < task->rows() || protection->norm_sensitivity > 0)
      protection = protection_for(options, protector, options.budget.epsilon, *task);
    Unroll<float> unroll(*task, *protection, {protector.units, protector.output_scale}, random, 0,
                         thread_count(options.threads));
    unroll.run_to_the_end(weights);
    const auto share = 1 / static_cast<double>(count);
    score.loss += share * task->mean_loss(unroll.w());
    score.start += share * task->mean_loss(task->start());
    score.spent += share * unroll.spent();
    score.steps += share * static_cast<double>(unroll.taken());
  }
  return score;
}

}  // namespace ration::meta
