#include "study.h"

#include <Eigen/Dense>
#include <algorithm>
#include <functional>

#include "paired.h"
#include "private_run.h"
#include "ration/objectives/glm/glm.h"
#include "schedules/influence.h"
#include "schedules/noise_shape.h"
#include "train/public_influence.h"
#include "two_layer_net.h"

namespace ration::e2 {
namespace {

constexpr double kMomentum = 0.9;
constexpr std::uint64_t kFirstFigureSeed = 1'000'001;  // those of the search start at 1
constexpr std::uint64_t kFirstPublicSeed = 2'000'001;

using Shape = std::vector<double>;
using ShapeOf = std::function<Shape(std::size_t steps)>;

bool has_momentum(Task task) {
  return task == Task::squared_momentum || task == Task::net;
}
bool is_squared(Task task) {
  return task == Task::squared || task == Task::squared_momentum;
}
double momentum_of(Task task) {
  return has_momentum(task) ? kMomentum : 0;
}
Mnist35::Labels labels_of(Task task) {
  return is_squared(task) ? Mnist35::Labels::signs : Mnist35::Labels::classes;
}

std::unique_ptr<Objective> objective_of(Task task, std::shared_ptr<const Rows> rows) {
  if (task == Task::net) return make_two_layer_net(std::move(rows), {});
  GlmOptions options;
  options.loss = is_squared(task) ? GlmLoss::squared : GlmLoss::logistic;
  options.threads = 1;
  return make_glm(std::move(rows), options);
}

// The last entries of a longer run's influence: what a step's noise does depends on the steps that are left.
Shape last_of(const Shape& influence, std::size_t steps) {
  return {influence.end() - static_cast<std::ptrdiff_t>(steps), influence.end()};
}

Shape exponential(double gamma, std::size_t steps) {
  return relative_noise(InfluenceNoise{std::clamp(gamma, 0.01, 0.9999)}, static_cast<std::int64_t>(steps));
}

// [Hong22, Thm 4.6] needs beta^2 < gamma.
Shape momentum_form(double gamma, std::size_t steps) {
  const double usable = std::clamp(gamma, kMomentum * kMomentum + 0.01, 0.9999);
  return relative_noise(MomentumInfluenceNoise{usable, kMomentum}, static_cast<std::int64_t>(steps));
}

std::vector<double> losses(Objective& objective, const Shape& shape, double momentum, std::uint64_t first,
                           std::size_t repeats) {
  const std::vector<double> noise = scaled_onto_rho(shape, total_rho());
  std::vector<double> out;
  for (std::size_t i = 0; i < repeats; ++i) {
    out.push_back(private_final_loss(objective, noise, momentum, first + i));
  }
  return out;
}

class Study {
 public:
  Study(const Mnist35& images, Task task, double scale, const StudyOptions& options)
      : options_(options),
        public_rows_(images.public_rows(scale, labels_of(task))),
        private_rows_(images.private_rows(scale, labels_of(task))),
        public_(objective_of(task, public_rows_)),
        private_(objective_of(task, private_rows_)) {
    cell_.task = task;
    cell_.scale = scale;
  }

  Cell run() {
    if (is_squared(cell_.task)) cell_.smallest_loss = smallest_squared_loss();
    std::map<std::string, ShapeOf> shapes = shapes_of_task();
    shapes["uni"] = [](std::size_t steps) { return Shape(steps, 1.0); };
    for (const auto& [name, shape] : shapes) cell_.schedules[name] = measure(shape);
    return std::move(cell_);
  }

 private:
  std::size_t longest() const { return options_.search.back(); }
  double momentum() const { return momentum_of(cell_.task); }

  Shape hessian_influence(std::size_t steps, double momentum) const {
    static const QuadraticRun usual{.learning_rate = kLearningRate};
    QuadraticRun run = usual;
    run.momentum = momentum;
    run.noise_unit = kClip / static_cast<double>(Mnist35::kRows);
    return influence_on_quadratic(eigenvalues_, static_cast<std::int64_t>(steps), run);
  }

  Shape retrained_influence() {
    PublicRuns runs(*public_, longest(), momentum(), options_.retraining_runs);
    const Shape uniform = scaled_onto_rho(Shape(longest(), 1.0), total_rho());
    return influence_by_retraining([&](std::span<const double> noise) { return runs(noise); }, uniform,
                                   {.most_steps = static_cast<std::int64_t>(options_.retraining_steps)});
  }

  std::map<std::string, ShapeOf> shapes_of_task() {
    if (cell_.task == Task::squared) return squared_shapes();
    if (cell_.task == Task::squared_momentum) return momentum_shapes();
    if (cell_.task == Task::logistic) return retrained_shapes("dyn", "exp");
    return net_shapes();
  }

  // dyn as the paper has it, from the Hessian and blind to clipping; dyn-r, exp-r from retraining.
  std::map<std::string, ShapeOf> squared_shapes() {
    eigenvalues_ = hessian_eigenvalues(*public_rows_);
    cell_.influence["hessian"] = hessian_influence(longest(), 0);
    cell_.gamma["hessian"] = fit_exponential(cell_.influence["hessian"]).gamma;
    std::map<std::string, ShapeOf> shapes = retrained_shapes("dyn-r", "exp-r");
    shapes["dyn"] = [this](std::size_t steps) { return noise_for_influence(hessian_influence(steps, 0)); };
    shapes["exp"] = [this](std::size_t steps) {
      return exponential(fit_exponential(hessian_influence(steps, 0)).gamma, steps);
    };
    return shapes;
  }

  std::map<std::string, ShapeOf> momentum_shapes() {
    eigenvalues_ = hessian_eigenvalues(*public_rows_);
    cell_.influence["hessian"] = hessian_influence(longest(), kMomentum);
    cell_.gamma["hessian"] = fit_exponential(cell_.influence["hessian"]).gamma;
    const double plain = fit_exponential(hessian_influence(longest(), 0)).gamma;
    return {{"dyn",
             [this](std::size_t steps) { return noise_for_influence(hessian_influence(steps, kMomentum)); }},
            {"exp",
             [this](std::size_t steps) {
               return exponential(fit_exponential(hessian_influence(steps, kMomentum)).gamma, steps);
             }},
            {"mom", [plain](std::size_t steps) { return momentum_form(plain, steps); }}};
  }

  std::map<std::string, ShapeOf> retrained_shapes(const char* dynamic, const char* fitted) {
    const Shape influence = retrained_influence();
    const double gamma = fit_exponential(influence).gamma;
    cell_.influence["retraining"] = influence;
    cell_.gamma["retraining"] = gamma;
    return {
        {dynamic, [influence](std::size_t steps) { return noise_for_influence(last_of(influence, steps)); }},
        {fitted, [gamma](std::size_t steps) { return exponential(gamma, steps); }}};
  }

  // As the paper does for nets: gamma is searched, here on public rows, for the longest run.
  std::map<std::string, ShapeOf> net_shapes() {
    const double exp_gamma = best_gamma(exponential);
    const double mom_gamma = best_gamma(momentum_form);
    cell_.gamma["exp"] = exp_gamma;
    cell_.gamma["mom"] = mom_gamma;
    std::map<std::string, ShapeOf> shapes;
    if (options_.retraining_steps > 0) shapes = retrained_shapes("dyn", "exp-r");
    shapes["exp"] = [exp_gamma](std::size_t steps) { return exponential(exp_gamma, steps); };
    shapes["mom"] = [mom_gamma](std::size_t steps) { return momentum_form(mom_gamma, steps); };
    return shapes;
  }

  double best_gamma(Shape (*shape)(double, std::size_t)) {
    double best = 1;
    double least = 0;
    for (const double gamma : {0.9, 0.95, 0.98}) {
      const double loss = mean(losses(*public_, shape(gamma, longest()), momentum(), kFirstPublicSeed, 4));
      if (best == 1 || loss < least) best = gamma, least = loss;
    }
    return best;
  }

  ScheduleResult measure(const ShapeOf& shape) {
    ScheduleResult result;
    std::size_t best = options_.search.front();
    for (const std::size_t steps : options_.search) {
      result.searched[steps] = losses(*private_, shape(steps), momentum(), 1, options_.search_repeats);
      if (mean(result.searched[steps]) < mean(result.searched[best])) best = steps;
    }
    const auto figures = [&](std::size_t steps) {
      return Measured{steps, losses(*private_, shape(steps), momentum(), kFirstFigureSeed, options_.repeats)};
    };
    result.longest = figures(longest());
    result.best = best == longest() ? result.longest : figures(best);
    return result;
  }

  double smallest_squared_loss() const {
    const auto columns = static_cast<Eigen::Index>(private_rows_->columns());
    const auto count = static_cast<Eigen::Index>(private_rows_->count());
    Eigen::MatrixXd x(count, columns);
    Eigen::VectorXd y(count);
    for (Eigen::Index i = 0; i < count; ++i) {
      const auto row = private_rows_->dense_row(static_cast<std::size_t>(i));
      x.row(i) = Eigen::Map<const Eigen::VectorXd>(row.data(), columns).transpose();
      y[i] = private_rows_->labels()[static_cast<std::size_t>(i)];
    }
    const Eigen::VectorXd w = (x.transpose() * x).ldlt().solve(x.transpose() * y);
    return (x * w - y).squaredNorm() / 2 / static_cast<double>(count);
  }

  StudyOptions options_;
  std::shared_ptr<const Rows> public_rows_, private_rows_;
  std::unique_ptr<Objective> public_, private_;
  std::vector<double> eigenvalues_;
  Cell cell_;
};

}  // namespace

std::string to_string(Task task) {
  if (task == Task::squared) return "squared";
  if (task == Task::squared_momentum) return "squared, momentum";
  return task == Task::logistic ? "logistic" : "net, momentum";
}

Cell study(const Mnist35& images, Task task, double scale, const StudyOptions& options) {
  return Study(images, task, scale, options).run();
}

}  // namespace ration::e2
