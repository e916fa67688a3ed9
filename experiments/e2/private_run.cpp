#include "private_run.h"

#include <cmath>
#include <numeric>

#include "base/distributions.h"
#include "methods/gradient_descent.h"
#include "privacy/zcdp.h"
#include "ration/base/error.h"
#include "ration/clipping/abadi.h"
#include "ration/sampling/full.h"
#include "schedules/scale.h"
#include "support/doubles.h"

namespace ration::e2 {
namespace {

// What rounding may add to a sum of a hundred costs, and more.
constexpr double kRoom = 1e-9;

StepOptions step_rule_of(double momentum) {
  StepOptions options;
  options.kind = momentum > 0 ? StepKind::momentum : StepKind::sgd;
  options.momentum = momentum;
  return options;
}

GradientDescentOptions method_of(std::span<const double> noise, double momentum) {
  GradientDescentOptions options;
  options.clip = Abadi{kClip};
  options.noise.assign(noise.begin(), noise.end());
  options.learning_rate.base = kLearningRate;
  options.step = step_rule_of(momentum);
  return options;
}

}  // namespace

double total_rho() {
  static const double rho = zcdp_rho_classic(kEpsilon, kDelta);
  return rho;
}

std::vector<double> scaled_onto_rho(std::span<const double> shape, double rho) {
  double precision = 0;
  for (const double s : shape) precision += 1 / (s * s);
  return scaled_by(shape, std::sqrt(precision / (2 * rho)));
}

double private_final_loss(Objective& objective, std::span<const double> noise, double momentum,
                          std::uint64_t seed) {
  const auto rows = static_cast<double>(objective.rows());
  const FullSampler sampler({.rows = objective.rows(), .declared_rows = rows}, Relation::add_remove);
  static const double epsilon = zcdp_epsilon(total_rho() * (1 + kRoom), kDelta);
  const auto filter = make_zcdp_filter({epsilon, kDelta}, Relation::add_remove);
  testing::SeededRandom random(seed);
  PrivateOracle oracle(objective, sampler, *filter, random);
  const auto method = make_gradient_descent(method_of(noise, momentum), objective.parameters());
  for (std::size_t t = 0; t < noise.size(); ++t) {
    if (!method->step(oracle)) throw InternalError("e2: the budget refused a step of its own schedule");
  }
  std::vector<double> w(objective.parameters());
  method->weights(w);
  return objective.mean_loss(w);
}

PublicRuns::PublicRuns(Objective& objective, std::size_t steps, double momentum, std::size_t runs)
    : objective_(objective),
      steps_(steps),
      momentum_(momentum),
      runs_(runs),
      draws_(runs * steps * objective.parameters()) {
  testing::SeededRandom random(20'000'000);
  fill_gaussian(random, draws_, kClip / static_cast<double>(objective.rows()));
}

double PublicRuns::operator()(std::span<const double> noise) {
  double sum = 0;
  for (std::size_t run = 0; run < runs_; ++run) sum += one_run(noise, run);
  return sum / static_cast<double>(runs_);
}

double PublicRuns::one_run(std::span<const double> noise, std::size_t run) {
  const std::size_t parameters = objective_.parameters();
  const auto rows = static_cast<double>(objective_.rows());
  Batch batch{.rows = std::vector<std::uint64_t>(objective_.rows()), .divisor = rows};
  std::iota(batch.rows.begin(), batch.rows.end(), std::uint64_t{0});
  std::vector<double> w(parameters, 0.0);
  std::vector<double> gradient(parameters);
  const auto rule = make_step_rule(step_rule_of(momentum_), parameters);
  for (std::size_t t = 0; t < steps_; ++t) {
    const double* const draw = draws_.data() + (run * steps_ + t) * parameters;
    objective_.clipped_gradient_sum(w, batch, Abadi{kClip}, gradient);
    for (std::size_t i = 0; i < parameters; ++i) gradient[i] = gradient[i] / rows + noise[t] * draw[i];
    rule->step({.value = gradient}, kLearningRate, w);
  }
  return objective_.mean_loss(w);
}

}  // namespace ration::e2
