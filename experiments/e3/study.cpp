#include "study.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "data/named_data.h"
#include "data/select_rows.h"
#include "methods/gradient_descent.h"
#include "methods/line_search.h"
#include "ration/clipping/abadi.h"
#include "ration/data/table.h"
#include "ration/objectives/neural/models.h"
#include "ration/privacy/filter.h"
#include "ration/sampling/poisson.h"
#include "steps/averaging.h"

namespace ration::e3 {
namespace {

std::shared_ptr<const Rows> read(const std::string& data) {
  const std::string found = data::find_data(data);
  return std::make_shared<const Rows>(data::read_table(found, *data::schema_of_data(found)).rows);
}

std::vector<std::size_t> input_of(const std::string& network, const std::string& data) {
  if (network.starts_with("mlp")) return {784};
  if (data.starts_with("cifar10")) return {3, 32, 32};
  return {1, 28, 28};
}

LineSearchOptions searching(const std::vector<double>& start) {
  LineSearchOptions options = neural_line_search(1 / (2 * kNoise * kNoise));
  options.clip = Abadi{kClip};
  options.ridge = kDecay;
  options.start = start;
  return options;
}

GradientDescentOptions descending(const Task& task, Trainer trainer, const std::vector<double>& start) {
  GradientDescentOptions options;
  options.clip = Abadi{kClip};
  options.noise.assign(static_cast<std::size_t>(task.steps), kNoise);
  options.step = usual_step_options(trainer == Trainer::adam ? StepKind::adam : StepKind::sgd);
  options.step.weight_decay = kDecay;
  options.learning_rate.base = trainer == Trainer::adam ? 0.001 : task.learning_rate;
  options.start = start;
  return options;
}

double accuracy_of(const std::vector<double>& predicted, const Rows& rows) {
  std::size_t right = 0;
  for (std::size_t i = 0; i < predicted.size(); ++i) right += predicted[i] == rows.labels()[i] ? 1 : 0;
  return static_cast<double>(right) / static_cast<double>(predicted.size());
}

}  // namespace

std::string_view to_string(Trainer trainer) {
  if (trainer == Trainer::line_search) return "DP-BLSGD";
  return trainer == Trainer::sgd ? "DP-SGD" : "DP-Adam";
}

Task make_task(const std::string& name, const std::string& data, const std::string& network,
               double learning_rate, std::int64_t steps, std::int64_t look_every) {
  Task task{.name = name,
            .network = {.name = network, .input = input_of(network, data), .classes = 10},
            .train = read(data),
            .test = read(data + ":test"),
            .some_test = nullptr,
            .learning_rate = learning_rate,
            .steps = steps,
            .look_every = look_every};
  std::vector<std::size_t> first(std::min<std::size_t>(2000, task.test->count()));
  std::iota(first.begin(), first.end(), std::size_t{0});
  task.some_test = std::make_shared<const Rows>(data::select_rows({task.test.get(), 1}, first));
  return task;
}

namespace {

class Judge {
 public:
  explicit Judge(const Task& task)
      : test_(*task.test),
        all_(nn::all_networks().objective(task.network, task.test, {.threads = 1}, true)),
        some_(nn::all_networks().objective(task.network, task.some_test, {.threads = 1}, true)),
        predicted_(test_.count()) {}

  Point look(std::int64_t step, double epsilon, double step_size, std::span<const double> w) {
    all_->predict(w, predicted_);
    return {.step = step,
            .epsilon = epsilon,
            .accuracy = accuracy_of(predicted_, test_),
            .loss = some_->mean_loss(w),
            .step_size = step_size};
  }

 private:
  const Rows& test_;
  std::unique_ptr<Objective> all_, some_;
  std::vector<double> predicted_;
};

}  // namespace

std::vector<Trace> train(const Task& task, Trainer trainer, std::size_t repeat) {
  SecureRandom& random = SecureRandom::for_this_thread();
  const auto objective = nn::all_networks().objective(task.network, task.train, {.threads = 1}, true);
  const std::size_t parameters = objective->parameters();
  const std::vector<double> start = nn::all_networks().start(task.network, random);
  const PoissonSampler sampler(
      {.rows = objective->rows(), .declared_rows = static_cast<double>(objective->rows())}, kRate);
  const bool searches = trainer == Trainer::line_search;
  const Event step =
      searches ? line_search_event(searching(start), sampler) : sampler.sampled(Event::gaussian(kNoise));
  const auto filter = make_plan_filter(Event::repeated(step, task.steps), Accountant::rdp,
                                       {.epsilon = 1e6, .delta = kDelta}, Relation::add_remove);
  PrivateOracle oracle(*objective, sampler, *filter, random);
  const auto method = searches ? make_line_search_descent(searching(start), parameters)
                               : make_gradient_descent(descending(task, trainer, start), parameters);
  IterateAverage average({.kind = Averaging::exponential, .decay = kMemory}, parameters, task.steps);
  Judge judge(task);
  Trace last{.task = task.name, .trainer = trainer, .averaged = false, .repeat = repeat, .points = {}};
  Trace averaged{.task = task.name, .trainer = trainer, .averaged = true, .repeat = repeat, .points = {}};
  std::vector<double> w(parameters);
  double sizes = 0;
  for (std::int64_t t = 1; t <= task.steps && method->step(oracle); ++t) {
    sizes += method->report().learning_rate;
    method->weights(w);
    average.add(t, w);
    if (t % task.look_every != 0) continue;
    const double epsilon = filter->spent_epsilon();
    const double size = std::exchange(sizes, 0) / static_cast<double>(task.look_every);
    last.points.push_back(judge.look(t, epsilon, size, w));
    average.result(w, w);
    averaged.points.push_back(judge.look(t, epsilon, size, w));
  }
  return {last, averaged};
}

}  // namespace ration::e3
