#include "meta/train_protector.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "base/check.h"
#include "base/distributions.h"
#include "base/parallel.h"
#include "base/public_random.h"
#include "base/version.h"
#include "meta/constraint.h"
#include "meta/first_weights.h"
#include "meta/lessons.h"
#include "meta/protections.h"
#include "meta/unroll.h"
#include "methods/protector/step_formulas.h"
#include "ration/base/error.h"
#include "steps/step_rule.h"

namespace ration::meta {
namespace {

using Weights = ProtectorWeights<float>;
using Lesson = Lessons::Lesson;

void validate(const MetaOptions& options) {
  constexpr std::string_view kName = "meta-training";
  require(kName, "epsilon", options.budget.epsilon, greater_than(0));
  require(kName, "delta", options.budget.delta, greater_than(0).less_than(1));
  require(kName, "steps", static_cast<double>(options.steps), at_least(1).at_most(1e5));
  require(kName, "learning_rate", options.learning_rate, greater_than(0));
  require(kName, "output_scale", options.output_scale, at_least(0));
  require(kName, "rows", options.rows, at_least(0));
  require(kName, "unrolls", static_cast<double>(options.unrolls), at_least(1));
  require(kName, "batch", static_cast<double>(options.batch), at_least(1));
  require(kName, "epochs", static_cast<double>(options.epochs), at_least(1));
  require(kName, "validate_every", static_cast<double>(options.validate_every), at_least(1));
  require(kName, "validation_tasks", static_cast<double>(options.validation_tasks), at_least(1));
  if (options.from && options.from->units != options.units)
    throw InputError(fmt::format("meta-training: the protector to go on from has {} units, expected {}",
                                 options.from->units, options.units));
  if (options.norm == NormSource::released && options.relation == Relation::add_remove)
    throw InputError(
        "meta-training: a released norm needs relation replace_one, under which the number of rows is "
        "public");
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
  const std::int64_t each = options.from ? 0 : options.pretraining_epochs / 3;
  if (each > 0) {
    stages.push_back({"without noise", 16 * epsilon, 0, false, each});
    stages.push_back({fmt::format("epsilon {}", show(16 * epsilon)), 16 * epsilon, 1, false, each});
    stages.push_back({fmt::format("epsilon {}", show(4 * epsilon)), 4 * epsilon, 1, false, each});
  }
  stages.push_back({fmt::format("epsilon {}", show(epsilon)), epsilon, 1, options.scheduler, options.epochs});
  return stages;
}

// h_t after each step; what rounding adds does not count as over the budget.
std::vector<double> running_h(std::span<const double> costs) {
  std::vector<double> h(costs.size());
  std::partial_sum(costs.begin(), costs.end(), h.begin());
  for (double& value : h) value -= 1 + 1e-9;
  return h;
}

// Two steps before the budget's end and two from there on, under a tent that ends with them.
SoftObjective around_the_end(const Unroll<float>& unroll, double even_cost) {
  constexpr std::size_t kReach = 2;
  const std::vector<double> h = running_h(unroll.costs());
  const auto end =
      static_cast<std::size_t>(std::find_if(h.begin(), h.end(), [](double x) { return x > 0; }) - h.begin());
  const double cost = end < h.size() ? unroll.costs()[end] : even_cost;
  return soft_objective(unroll.losses(), h, kReach, kReach * cost);
}

class MetaTrainer {
 public:
  MetaTrainer(const MetaOptions& options, const TaskSource& tasks, const TaskSource& validation,
              const std::function<void(const MetaProgress&)>& tell)
      : options_(options),
        tasks_(tasks),
        validation_(validation),
        tell_(tell),
        threads_(thread_count(options.threads)),
        random_(options.seed),
        protections_(options) {}

  Protector run(ProtectorOrigin origin);

 private:
  void begin();
  FirstSteps best_first_steps(double& score);
  void train(const Stage& stage, std::int64_t epochs_before, std::int64_t all);
  void update_projector(const Stage& stage);
  void update_scheduler(const Stage& stage);
  void learn_soft(Lessons& lessons);
  void learn_lagrangian(Lessons& lessons);
  void learn_in_batches(const Stage& stage, Lessons& lessons);
  void by_projector(Lesson& lesson, std::size_t steps) const;
  Lessons lessons() { return Lessons(tasks_, options_.unrolls, random_.next_word(), threads_); }
  void prepare(const Stage& stage, Lessons& lessons, std::size_t kept);
  // A projector goes on learning when the budget is used up, so that it can do with more steps than even
  // noise allows; in batches, the steps are those of the paper.
  std::size_t unroll_length() const {
    return static_cast<std::size_t>(options_.whole_unrolls ? options_.steps * 3 / 2 + 1 : options_.steps);
  }
  void validate_now();
  bool asked_to_stop() const {
    return options_.stop != nullptr && options_.stop->load(std::memory_order_relaxed);
  }
  Protector protector(bool with_scheduler) const {
    return {.units = options_.units,
            .output_scale = output_scale_,
            .norm = options_.norm,
            .norm_noise_ratio = options_.norm_noise_ratio,
            .scheduler = with_scheduler ? weights_.scheduler : std::vector<float>{},
            .projector = weights_.projector};
  }

  const MetaOptions& options_;
  const TaskSource& tasks_;
  const TaskSource& validation_;
  const std::function<void(const MetaProgress&)>& tell_;
  std::size_t threads_;
  PublicRandom random_;
  Protections protections_;
  double output_scale_ = 1;
  Weights weights_;
  std::optional<Learner> projector_learner_, scheduler_learner_;
  AugmentedLagrangian lagrangian_;
  std::optional<BatchBudgets> budgets_;
  double share_done_ = 0;
  double last_loss_ = 1;
  Weights best_;
  double best_loss_ = std::numeric_limits<double>::infinity();
  double best_share_ = std::numeric_limits<double>::infinity();
  double start_loss_ = 0;
  std::int64_t since_best_ = 0;
};

void MetaTrainer::prepare(const Stage& stage, Lessons& lessons, std::size_t kept) {
  const Protector now = protector(stage.with_scheduler);
  lessons.begin(
      [&](const Task& task) {
        Protection protection = protections_.of(now, stage.epsilon, task);
        protection.noise_injected = stage.noise_injected;
        return protection;
      },
      {options_.units, output_scale_}, kept);
}

// The first protector is plain descent with momentum, its steps the best of a few sizes.
void MetaTrainer::begin() {
  const protector::LstmShape projector{Protector::kProjectorInputs, options_.units};
  const protector::LstmShape scheduler{Protector::kSchedulerInputs, options_.units};
  const auto steps = static_cast<double>(options_.steps);
  if (options_.from) {
    output_scale_ = options_.from->output_scale;
    weights_ = {options_.from->scheduler, options_.from->projector};
    if (options_.scheduler && weights_.scheduler.empty())
      weights_.scheduler = first_scheduler(scheduler, steps, random_);
    if (!options_.scheduler) weights_.scheduler.clear();
  } else {
    if (options_.scheduler) weights_.scheduler = first_scheduler(scheduler, steps, random_);
    const FirstSteps first = best_first_steps(start_loss_);
    output_scale_ = options_.output_scale > 0 ? options_.output_scale : first.size;
    FirstSteps scaled = first;
    scaled.size /= output_scale_;
    weights_.projector = first_projector(projector, scaled, steps, random_);
  }
  projector_learner_.emplace(weights_.projector, options_.learning_rate);
  if (options_.scheduler) scheduler_learner_.emplace(weights_.scheduler, options_.learning_rate);
}

FirstSteps MetaTrainer::best_first_steps(double& best) {
  const protector::LstmShape shape{Protector::kProjectorInputs, options_.units};
  const std::int64_t count = std::min<std::int64_t>(4, options_.validation_tasks);
  const auto score = [&](const FirstSteps& first) {
    PublicRandom random(options_.seed);
    Protector tried{.units = options_.units, .output_scale = first.size};
    FirstSteps unit = first;
    unit.size = 1;
    tried.projector = first_projector(shape, unit, static_cast<double>(options_.steps), random);
    const double loss = score_protector(tried, options_, tasks_, count, options_.seed + 2).share;
    return std::isfinite(loss) ? loss : std::numeric_limits<double>::max();
  };
  PublicRandom random(options_.seed + 2);
  const auto task = tasks_(random);
  const Protector even{.units = options_.units};
  const Protection protection = protections_.of(even, options_.budget.epsilon, *task);
  const double stddev = protection.sensitivity * protection.even / protection.divisor;
  FirstSteps found{.size = 1};
  best = std::numeric_limits<double>::infinity();
  for (const bool in_units_of_noise : {true, false}) {
    for (const double memory : {0.0, 0.8, 0.95}) {
      FirstSteps now{in_units_of_noise, memory, in_units_of_noise ? stddev : options_.clip.bound()};
      double here = score(now);
      constexpr double kFactor = 2.5;
      for (const double factor : {kFactor, 1 / kFactor}) {
        for (int tries = 0; tries < 12; ++tries) {
          FirstSteps next = now;
          next.size *= factor;
          const double there = score(next);
          if (!(there < here)) break;
          here = there;
          now = next;
        }
      }
      if (here < best) {
        best = here;
        found = now;
      }
    }
  }
  return found;
}

// The mean of the losses over each batch of steps [L2P, Sec. 5]; of a whole unroll, most of the weight is on
// the losses around the step at which the budget is used up, since what counts is the end.
void MetaTrainer::by_projector(Lesson& lesson, std::size_t steps) const {
  Unroll<float>& unroll = *lesson.unroll;
  std::vector<double> by_loss(steps, lesson.scale / static_cast<double>(steps));
  if (options_.whole_unrolls) {
    const SoftObjective soft = around_the_end(unroll, 1 / static_cast<double>(options_.steps));
    constexpr double kOnTheWay = 0.2;
    for (std::size_t t = 0; t < steps; ++t) {
      const double before = t < soft.end ? kOnTheWay / static_cast<double>(soft.end) : 0;
      by_loss[t] = lesson.scale * (before + (1 - kOnTheWay) * soft.by_loss[t]);
    }
  }
  const std::vector<double> by_cost(steps, 0.0);
  lesson.gradient = {{}, std::vector<float>(weights_.projector.size(), 0.0f)};
  unroll.back(weights_, by_loss, by_cost, lesson.gradient);
}

void MetaTrainer::update_projector(const Stage& stage) {
  Lessons lessons = this->lessons();
  const std::size_t length = unroll_length();
  const std::size_t batch = options_.whole_unrolls ? length : std::min(options_.batch, length);
  prepare(stage, lessons, batch);
  for (std::size_t done = 0; done + batch <= length; done += batch) {
    const Weights weights{stage.with_scheduler ? weights_.scheduler : std::vector<float>{},
                          weights_.projector};
    lessons.each([&](Lesson& lesson) {
      lesson.unroll->run(weights, batch);
      by_projector(lesson, batch);
    });
    projector_learner_->step(lessons.mean(&Weights::projector), share_done_);
  }
  last_loss_ = lessons[0].unroll->losses().back() * lessons[0].scale;
}

void MetaTrainer::update_scheduler(const Stage& stage) {
  Lessons lessons = this->lessons();
  switch (options_.training) {
    case SchedulerTraining::soft:
      prepare(stage, lessons, 2 * unroll_length());
      return learn_soft(lessons);
    case SchedulerTraining::lagrangian:
      prepare(stage, lessons, static_cast<std::size_t>(options_.steps));
      return learn_lagrangian(lessons);
    case SchedulerTraining::batch:
    case SchedulerTraining::batch_soft:
      return learn_in_batches(stage, lessons);
  }
}

// Until the budget is used up for certain, or as long as memory was set aside for.
void MetaTrainer::learn_soft(Lessons& lessons) {
  const std::size_t steps = 2 * unroll_length();
  lessons.each([&](Lesson& lesson) {
    lesson.unroll->run(weights_, steps);
    const SoftObjective soft = around_the_end(*lesson.unroll, 1 / static_cast<double>(options_.steps));
    std::vector<double> by_loss = soft.by_loss;
    std::vector<double> by_cost = meta::by_cost(soft.by_h);
    for (double& value : by_loss) value *= lesson.scale;
    for (double& value : by_cost) value *= lesson.scale;
    lesson.gradient = {std::vector<float>(weights_.scheduler.size(), 0.0f), {}};
    lesson.unroll->back(weights_, by_loss, by_cost, lesson.gradient);
  });
  scheduler_learner_->step(lessons.mean(&Weights::scheduler), share_done_);
}

// The multiplier first, so that one unroll serves both. [L2P, App. B.2]
void MetaTrainer::learn_lagrangian(Lessons& lessons) {
  const auto steps = static_cast<std::size_t>(options_.steps);
  lessons.each([&](Lesson& lesson) { lesson.unroll->run(weights_, steps); });
  double h = -1;
  for (std::size_t k = 0; k < lessons.count(); ++k)
    h += lessons[k].unroll->cost() / static_cast<double>(lessons.count());
  lagrangian_.update(h);
  lessons.each([&](Lesson& lesson) {
    std::vector<double> by_loss(steps, 0.0);
    by_loss.back() = lesson.scale;
    const std::vector<double> by_cost(steps, lagrangian_.slope(lesson.unroll->cost() - 1));
    lesson.gradient = {std::vector<float>(weights_.scheduler.size(), 0.0f), {}};
    lesson.unroll->back(weights_, by_loss, by_cost, lesson.gradient);
  });
  scheduler_learner_->step(lessons.mean(&Weights::scheduler), share_done_);
}

// Two passes: the first learns from each batch by itself, the second, with the protector as it is, finds what
// each batch spends and shifts the budgets between them. [L2P, App. B.5]
void MetaTrainer::learn_in_batches(const Stage& stage, Lessons& lessons) {
  const auto length = static_cast<std::size_t>(options_.steps);
  const std::size_t batch = std::min(options_.batch, length);
  const std::size_t batches = length / batch;
  if (!budgets_) budgets_.emplace(batches);
  prepare(stage, lessons, batch);
  for (std::size_t b = 0; b < batches; ++b) {
    lessons.each([&](Lesson& lesson) {
      lesson.unroll->run(weights_, batch);
      const std::vector<double> by_loss(batch, lesson.scale / static_cast<double>(batch));
      const std::vector<double> by_cost(batch, budgets_->slope(b, lesson.unroll->cost()));
      lesson.gradient = {std::vector<float>(weights_.scheduler.size(), 0.0f), {}};
      lesson.unroll->back(weights_, by_loss, by_cost, lesson.gradient);
    });
    scheduler_learner_->step(lessons.mean(&Weights::scheduler), share_done_);
  }
  prepare(stage, lessons, batch);
  std::vector<double> costs(batches, 0.0), losses(batches, 0.0);
  for (std::size_t b = 0; b < batches; ++b) {
    lessons.each([&](Lesson& lesson) { lesson.unroll->run(weights_, batch); });
    for (std::size_t k = 0; k < lessons.count(); ++k) {
      const std::span<const double> of_steps = lessons[k].unroll->losses();
      const double sum = std::accumulate(of_steps.begin(), of_steps.end(), 0.0);
      costs[b] += lessons[k].unroll->cost() / static_cast<double>(lessons.count());
      losses[b] += lessons[k].scale * sum / static_cast<double>(batch * lessons.count());
    }
  }
  if (options_.training == SchedulerTraining::batch) budgets_->update_hard(costs);
  if (options_.training == SchedulerTraining::batch_soft) budgets_->update_soft(costs, losses);
}

void MetaTrainer::validate_now() {
  const ProtectorScore score = score_protector(protector(options_.scheduler), options_, validation_,
                                               options_.validation_tasks, options_.seed + 1);
  start_loss_ = score.start;
  ++since_best_;
  if (!(score.share < best_share_)) return;
  best_share_ = score.share;
  best_loss_ = score.loss;
  best_ = weights_;
  since_best_ = 0;
}

void MetaTrainer::train(const Stage& stage, std::int64_t epochs_before, std::int64_t all) {
  const bool last = epochs_before + stage.epochs == all;
  if (last) validate_now();
  for (std::int64_t epoch = 1; epoch <= stage.epochs; ++epoch) {
    share_done_ = static_cast<double>(epochs_before + epoch - 1) / static_cast<double>(all);
    if (stage.with_scheduler) update_scheduler(stage);
    for (std::int64_t i = 0; i < options_.projector_updates; ++i) update_projector(stage);
    if (last && (epoch % options_.validate_every == 0 || epoch == stage.epochs)) validate_now();
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
  begin();
  const std::vector<Stage> stages = stages_of(options_);
  std::int64_t all = 0;
  for (const Stage& stage : stages) all += stage.epochs;
  std::int64_t epochs = 0;
  for (const Stage& stage : stages) {
    if (asked_to_stop()) break;
    train(stage, epochs, all);
    epochs += stage.epochs;
  }
  if (best_.projector.empty())
    throw InputError(
        "meta-training: no protector reached a finite loss; try a smaller learning rate or output scale");
  weights_ = best_;
  Protector out = protector(options_.scheduler);
  origin.epsilon = options_.budget.epsilon;
  origin.delta = options_.budget.delta;
  origin.steps = options_.steps;
  origin.clip_bound = options_.clip.bound();
  origin.epochs = epochs;
  origin.validation_loss = best_loss_;
  origin.untrained_loss = start_loss_;
  origin.version = version();
  out.origin = std::move(origin);
  return protector_from_json(to_json(out), "protector");  // with the digits that a file has
}

}  // namespace

Protector train_protector(const MetaOptions& options, const TaskSource& tasks, const TaskSource& validation,
                          ProtectorOrigin origin, const std::function<void(const MetaProgress&)>& tell) {
  validate(options);
  return MetaTrainer(options, tasks, validation, tell).run(std::move(origin));
}

ProtectorScore score_protector(const Protector& protector, const MetaOptions& options,
                               const TaskSource& tasks, std::int64_t count, std::uint64_t seed) {
  const Weights weights{protector.scheduler, protector.projector};
  Lessons lessons(tasks, static_cast<std::size_t>(count), seed, thread_count(options.threads));
  Protections protections(options);
  lessons.begin([&](const Task& task) { return protections.of(protector, options.budget.epsilon, task); },
                {protector.units, protector.output_scale}, 0);
  lessons.each([&](Lesson& lesson) { lesson.unroll->run_to_the_end(weights); });
  ProtectorScore score;
  const auto share = 1 / static_cast<double>(count);
  for (std::size_t k = 0; k < lessons.count(); ++k) {
    Task& task = *lessons[k].task;
    const double start = task.mean_loss(task.start());
    const double end = task.mean_loss(lessons[k].unroll->w());
    score.loss += share * end;
    score.start += share * start;
    score.share += share * end / start;
    score.spent += share * lessons[k].unroll->spent();
    score.steps += share * static_cast<double>(lessons[k].unroll->taken());
  }
  return score;
}

}  // namespace ration::meta
