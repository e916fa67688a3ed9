#include "quadratics.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <functional>
#include <limits>
#include <numeric>

#include "base/atomic_file.h"
#include "base/public_random.h"
#include "meta/train_protector.h"
#include "methods/agd.h"
#include "methods/gradient_descent.h"
#include "ration/sampling/full.h"

namespace ration::e5 {
namespace {

constexpr double kDelta = 1e-8;
constexpr std::uint64_t kTestSeed = 90'000;
constexpr std::uint64_t kTuningSeed = 50'000;
constexpr std::size_t kTuningTasks = 100;

// The same for all problems, as in the paper, and public; the minimum is random.
const std::vector<double> kStart{2, 2};

std::unique_ptr<meta::Task> problem(std::uint64_t seed) {
  PublicRandom random(seed);
  return meta::random_quadratics(kStart)(random);
}

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double standard_error(const std::vector<double>& values) {
  double squares = 0;
  for (const double value : values) squares += (value - mean(values)) * (value - mean(values));
  const auto count = static_cast<double>(values.size());
  return std::sqrt(squares / (count - 1) / count);
}

// Runs a method on a task: a method with its settings fixed.
struct Contender {
  std::string name, setting;
  std::function<PrivateRun(meta::Task&, std::uint64_t seed, bool keep_all)> run;
};

Contender learned(const std::string& name, std::shared_ptr<const Protector> protector, double epsilon) {
  return {name, fmt::format("{} steps with even noise", protector->origin.steps),
          [=](meta::Task& task, std::uint64_t seed, bool keep_all) {
            return run_protector(task.objective(), protector, task.start(),
                                 {{epsilon, kDelta}, Accountant::gdp, seed, keep_all});
          }};
}

double even_noise(std::int64_t steps, Accountant accountant, double epsilon) {
  const auto plan = [&](double noise) { return Event::repeated(Event::gaussian(noise), steps); };
  return calibrate_noise(plan, Relation::add_remove, accountant, {epsilon, kDelta});
}

// Its noise is found by `accountant`; what it costs by the exact curve, which is less than it was granted.
Contender descent(const std::string& name, Accountant accountant, std::int64_t steps, double rate,
                  double epsilon) {
  const double noise = even_noise(steps, accountant, epsilon);
  return {
      name, fmt::format("{} steps of {:.3g}", steps, rate),
      [=](meta::Task& task, std::uint64_t seed, bool keep_all) {
        GradientDescentOptions options;
        options.clip = Abadi{1};
        options.noise.assign(static_cast<std::size_t>(steps), noise);
        options.learning_rate.base = rate;
        options.step.kind = StepKind::sgd;
        options.start = task.start();
        const auto method = make_gradient_descent(options, 2);
        return run_privately(task.objective(), *method, {{epsilon, kDelta}, Accountant::gdp, seed, keep_all});
      }};
}

Contender agd(double first_step, double loss_bound, double epsilon) {
  return {"AGD", fmt::format("steps up to {:.3g} and losses up to {:.3g}", first_step, loss_bound),
          [=](meta::Task& task, std::uint64_t seed, bool keep_all) {
            AgdOptions options = agd_for(epsilon);
            options.clip = Abadi{1};
            options.first_step = first_step;
            options.loss_bound = loss_bound;
            options.start = task.start();
            const auto method = make_agd(options, 2);
            return run_privately(task.objective(), *method,
                                 {{epsilon, kDelta}, Accountant::zcdp, seed, keep_all});
          }};
}

double tuning_loss(const Contender& contender) {
  double sum = 0;
  for (std::size_t i = 0; i < kTuningTasks; ++i) {
    const auto task = problem(kTuningSeed + i);
    sum +=
        task->mean_loss(contender.run(*task, kTuningSeed + i, false).last()) / task->mean_loss(task->start());
  }
  return sum;
}

Contender best_of(const std::vector<Contender>& contenders) {
  std::vector<double> losses;
  for (const Contender& one : contenders) losses.push_back(tuning_loss(one));
  return contenders[static_cast<std::size_t>(std::min_element(losses.begin(), losses.end()) -
                                             losses.begin())];
}

// Rates are for mean gradients: the paper's 0.001 to 0.02 are for sums over 60 rows.
Contender tuned_descent(const std::string& name, Accountant accountant, double epsilon) {
  std::vector<Contender> all;
  for (const std::int64_t steps : {10, 20, 30, 40, 50, 60}) {
    for (int i = 1; i <= 20; ++i) all.push_back(descent(name, accountant, steps, 60 * 0.001 * i, epsilon));
  }
  return best_of(all);
}

Contender tuned_agd(double epsilon) {
  std::vector<Contender> all;
  for (const double first_step : {0.06, 0.12, 0.3, 0.6, 1.2}) {
    for (const double loss_bound : {3.0, 10.0}) all.push_back(agd(first_step, loss_bound, epsilon));
  }
  return best_of(all);
}

meta::MetaOptions options_for(double epsilon, std::size_t threads) {
  meta::MetaOptions options;
  options.budget = {epsilon, kDelta};
  options.threads = threads;
  options.steps = 20;
  options.unrolls = 8;
  options.epochs = 60;
  options.output_scale = 0.1;
  options.pretraining_epochs = 30;
  options.validation_tasks = 200;
  return options;
}

std::shared_ptr<const Protector> train(const meta::MetaOptions& options) {
  const meta::TaskSource tasks = meta::random_quadratics(kStart);
  ProtectorOrigin origin;
  origin.tasks = origin.model = "quadratic";
  return std::make_shared<const Protector>(meta::train_protector(options, tasks, tasks, std::move(origin)));
}

struct Learned {
  std::shared_ptr<const Protector> l2p, proj;
};

// Both go on from the same projector for as many epochs, one with a scheduler.
Learned train_both(meta::MetaOptions options) {
  options.scheduler = false;
  options.from = train(options);
  Learned out;
  out.proj = train(options);
  options.scheduler = true;
  out.l2p = train(options);
  return out;
}

QuadraticRow measured(const Contender& contender, std::size_t repeats) {
  QuadraticRow row{.method = contender.name, .setting = contender.setting};
  const auto share = 1 / static_cast<double>(repeats);
  for (std::size_t i = 0; i < repeats; ++i) {
    const auto one = problem(kTestSeed);
    PrivateRun run = contender.run(*one, 7'000 + i, true);
    row.losses.push_back(one->mean_loss(run.last()));
    row.spent += share * run.spent;
    row.steps += share * static_cast<double>(run.weights.size() - 1);
    row.paths.push_back(std::move(run.weights));
    const auto other = problem(kTestSeed + 1 + i);
    row.losses_elsewhere.push_back(other->mean_loss(contender.run(*other, 8'000 + i, false).last()));
  }
  return row;
}

}  // namespace

QuadraticStudy study_quadratics(double epsilon, std::size_t repeats, std::size_t threads) {
  QuadraticStudy study;
  study.epsilon = epsilon;
  const auto begin = std::chrono::steady_clock::now();
  const Learned protectors = train_both(options_for(epsilon, threads));
  study.training_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const std::vector<Contender> contenders{learned("L2P", protectors.l2p, epsilon),
                                          learned("L2P-Proj", protectors.proj, epsilon), tuned_agd(epsilon),
                                          tuned_descent("SGD-Adv", Accountant::advanced, epsilon),
                                          tuned_descent("SGD exact", Accountant::gdp, epsilon)};
  for (const Contender& contender : contenders) {
    study.rows.push_back(measured(contender, repeats));
    const QuadraticRow& row = study.rows.back();
    fmt::print(stderr, "epsilon {}: {} ({}): {:.4f}, other problems {:.4f}, spent {:.4f}, {:.1f} steps\n",
               epsilon, row.method, row.setting, mean(row.losses), mean(row.losses_elsewhere), row.spent,
               row.steps);
  }
  fmt::print(stderr, "{:.0f} s of training\n", study.training_seconds);
  return study;
}

// A quadratic is known by its values at six points.
TestProblem test_problem() {
  const auto task = problem(kTestSeed);
  const auto f = [&](double x, double y) { return task->mean_loss(std::vector<double>{x, y}); };
  const double c = f(0, 0);
  const double gx = (f(1, 0) - f(-1, 0)) / 2, gy = (f(0, 1) - f(0, -1)) / 2;
  const double a = f(1, 0) + f(-1, 0) - 2 * c, d = f(0, 1) + f(0, -1) - 2 * c;
  const double b = f(1, 1) - c - gx - gy - a / 2 - d / 2;
  const double det = a * d - b * b;
  TestProblem out;
  out.start = task->start();
  out.hessian = {a, b, b, d};
  out.optimum = {-(d * gx - b * gy) / det, -(a * gy - b * gx) / det};
  out.start_loss = task->mean_loss(out.start);
  out.least_loss = task->mean_loss(out.optimum);
  return out;
}

void write_quadratics(const std::string& folder, std::size_t threads) {
  constexpr std::size_t kRepeats = 100;
  std::filesystem::create_directories(folder);
  std::string runs = "epsilon,method,setting,repeat,loss,loss_elsewhere,steps,spent\n";
  std::string paths = "epsilon,method,repeat,step,x,y\n";
  for (const double epsilon : {0.05, 0.8}) {
    const QuadraticStudy study = study_quadratics(epsilon, kRepeats, threads);
    for (const QuadraticRow& row : study.rows) {
      for (std::size_t i = 0; i < kRepeats; ++i) {
        runs += fmt::format("{},{},{},{},{:.6f},{:.6f},{:.1f},{:.6f}\n", epsilon, row.method, row.setting, i,
                            row.losses[i], row.losses_elsewhere[i], row.steps, row.spent);
        // The first few as a whole, of the others where they ended.
        for (std::size_t t = i < 5 ? 0 : row.paths[i].size() - 1; t < row.paths[i].size(); ++t)
          paths += fmt::format("{},{},{},{},{:.4f},{:.4f}\n", epsilon, row.method, i, t, row.paths[i][t][0],
                               row.paths[i][t][1]);
      }
    }
    write_file_atomically(folder + "/quadratics.csv", runs);
    write_file_atomically(folder + "/quadratic-paths.csv", paths);
  }
}

// The luck of one training is larger than that of a hundred runs.
void write_quadratic_trainings(const std::string& folder, std::size_t threads) {
  constexpr double kEpsilon = 0.05;
  constexpr std::uint64_t kTrainings = 10, kProblems = 2000;
  const std::vector<double> family_minimum{0, 0};
  std::string text = "training,l2p,l2p_proj,difference,standard_error,at_the_family_minimum\n";
  std::filesystem::create_directories(folder);
  for (std::uint64_t training = 0; training < kTrainings; ++training) {
    meta::MetaOptions options = options_for(kEpsilon, threads);
    options.seed = 1000 + training;
    const Learned protectors = train_both(options);
    const Contender l2p = learned("L2P", protectors.l2p, kEpsilon);
    const Contender proj = learned("L2P-Proj", protectors.proj, kEpsilon);
    std::vector<double> of_l2p, of_proj, difference, without_a_row;
    for (std::uint64_t i = 0; i < kProblems; ++i) {
      const auto task = problem(kTestSeed + 1 + i);
      of_l2p.push_back(task->mean_loss(l2p.run(*task, 8'000 + i, false).last()));
      of_proj.push_back(task->mean_loss(proj.run(*task, 8'000 + i, false).last()));
      difference.push_back(of_l2p.back() - of_proj.back());
      without_a_row.push_back(task->mean_loss(family_minimum));
    }
    text += fmt::format("{},{:.6f},{:.6f},{:.6f},{:.6f},{:.6f}\n", training, mean(of_l2p), mean(of_proj),
                        mean(difference), standard_error(difference), mean(without_a_row));
    write_file_atomically(folder + "/quadratic-trainings.csv", text);
  }
}

}  // namespace ration::e5
