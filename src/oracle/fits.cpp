// The oracle's releases of a whole fit.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/check.h"
#include "base/distributions.h"
#include "mechanisms/gaussian.h"
#include "mechanisms/objective_noise.h"
#include "objectives/fit_sensitivity.h"
#include "objectives/solvers.h"
#include "ration/base/error.h"
#include "ration/clipping/sensitivity.h"
#include "ration/data/bad_rows.h"
#include "ration/oracle/oracle.h"

namespace ration {
namespace {

constexpr const char* kOutput = "output perturbation";
constexpr const char* kObjective = "objective perturbation";

void require_row_bound(const char* what, const PublicFacts& facts, double needed) {
  require(what, "row_norm", needed, greater_than(0));
  if (facts.row_norm_bound <= needed) return;
  const std::string got = std::isfinite(facts.row_norm_bound) ? "a bound of " + show(facts.row_norm_bound)
                                                              : std::string("no bound");
  throw InputError(
      fmt::format("{}: expected rows whose norms are kept at {} or less, got {}; shorten them first "
                  "(Rows::with_row_norms_at_most)",
                  what, show(needed), got));
}

void require_gentle_loss(const char* what, const PublicFacts& facts) {
  if (!std::isfinite(facts.slope_bound)) {
    throw InputError(fmt::format(
        "{}: expected a loss with bounded slopes, such as logistic or huber, and those of '{}' are not", what,
        facts.loss));
  }
  if (!std::isfinite(facts.curvature_bound)) {
    throw InputError(fmt::format("{}: expected a smooth loss, and '{}' has a kink; use 'huber' or 'logistic'",
                                 what, facts.loss));
  }
}

void require_one_sided_loss(const PublicFacts& facts) {
  if (facts.one_sided) return;
  throw InputError(fmt::format(
      "{}: expected a loss of one output whose slope has one sign, such as logistic or huber, got '{}'",
      kObjective, facts.loss));
}

// The linear term on a grid: real normal variables, rounded to multiples of `step`.
struct LinearNoise {
  double stddev;
  std::size_t parameters;
  double step = std::ldexp(1.0, std::ilogb(stddev) - 34);

  // No longer, except with probability below 1e-340: forty standard deviations in every place.
  double longest() const { return 40 * stddev * std::sqrt(static_cast<double>(parameters)); }
  // How far it is from the real one.
  double rounding() const { return 0.5 * step * std::sqrt(static_cast<double>(parameters)); }
  std::vector<double> draw(RandomSource& random) const {
    std::vector<double> values(parameters);
    fill_rounded_gaussian(random, values, stddev / step);
    for (double& value : values) value *= step;
    return values;
  }
};

// What the sum of gradients at |w| <= largest_w may lose to rounding, what the linear term may, and a
// ten-thousandth of what one row may change. Half of it is the solver's, a quarter each of the roundings'.
double tolerance_of(const FitScale& scale, double largest_w, const LinearNoise& linear) {
  return std::max(
      {1e-4 * scale.lipschitz, 4 * gradient_error(scale, largest_w) * scale.divisor, 4 * linear.rounding()});
}

}  // namespace

void PrivateOracle::require_all_rows(const char* what) const {
  const Event probe = Event::gaussian(1);
  if (sampler_.sampled(probe) == probe) return;
  throw InputError(
      fmt::format("{}: expected a sampler that takes every row, got one that leaves some out", what));
}

void PrivateOracle::require_no_more_than_twice_declared(const char* what) const {
  if (relation() == Relation::add_remove)  // otherwise the number of rows is public
    note_assumption("that there are at most twice as many rows as declared or counted");
  if (static_cast<double>(objective().rows()) <= 2 * divisor()) return;
  throw data::TooManyRows(
      fmt::format("{}: the table has more than twice the {} rows that were declared; declare its size", what,
                  show(divisor())));
}

void PrivateOracle::require_places(const char* what, std::size_t places, std::size_t expected) const {
  if (places == expected) return;
  throw InputError(fmt::format("{}: expected {} places for the answer, got {}", what, expected, places));
}

FitScale PrivateOracle::fit_scale(const char* what, double ridge, double row_norm) const {
  const PublicFacts facts = objective().facts();
  require_all_rows(what);
  require_row_bound(what, facts, row_norm);
  require_gentle_loss(what, facts);
  require_no_more_than_twice_declared(what);
  return {.lipschitz = facts.slope_bound * row_norm,
          .smoothness = facts.curvature_bound * row_norm * row_norm,
          .ridge = ridge,
          .divisor = divisor(),
          .parameters = parameters(),
          .longest_chain = objective().longest_chain(static_cast<std::uint64_t>(2 * divisor()) + 1),
          .relation = relation()};
}

GaussianMechanism PrivateOracle::fit_mechanism(const OutputQuery& query) const {
  return GaussianMechanism(
      {.sensitivity = fit_sensitivity(query.fit, fit_scale(kOutput, query.ridge, query.row_norm)),
       .noise_multiplier = query.noise_multiplier});
}

double PrivateOracle::perturbed_fit_stddev(const OutputQuery& query) const {
  return fit_mechanism(query).stddev(parameters());
}

bool PrivateOracle::perturbed_fit(const OutputQuery& query, std::span<double> w) {
  const FitScale scale = fit_scale(kOutput, query.ridge, query.row_norm);
  const GaussianMechanism mechanism = fit_mechanism(query);
  require_places(kOutput, w.size(), parameters());
  if (!charge_and_draw(query.event())) return false;
  const RidgeProblem problem{
      .objective = objective(), .batch = batch_, .ridge = query.ridge, .most_per_row = scale.lipschitz};
  sum_.resize(parameters());
  run_fit(problem, query.fit, random_, sum_);
  mechanism.add_noise(sum_, random_);
  std::copy(sum_.begin(), sum_.end(), w.begin());
  return true;
}

bool PrivateOracle::perturbed_objective(const ObjectiveQuery& query, std::span<double> w) {
  require(kObjective, "ridge", query.ridge, greater_than(0));
  const FitScale scale = fit_scale(kObjective, query.ridge, query.row_norm);
  require_one_sided_loss(objective().facts());
  require_places(kObjective, w.size(), parameters());
  const double regulariser = query.ridge * divisor();
  const ObjectiveNoise noise({.lipschitz = scale.lipschitz,
                              .smoothness = scale.smoothness,
                              .regulariser = regulariser,
                              .noise_multiplier = query.noise_multiplier,
                              .relation = relation()});
  const LinearNoise linear_noise{.stddev = noise.linear_stddev(), .parameters = parameters()};
  const double tolerance = tolerance_of(
      scale, 2 * scale.lipschitz / query.ridge + linear_noise.longest() / regulariser, linear_noise);
  const GaussianMechanism output(
      {.sensitivity = 2 * tolerance / regulariser, .noise_multiplier = noise.output_noise_multiplier()});
  if (!charge_and_draw(query.event())) return false;
  const std::vector<double> linear = linear_noise.draw(random_);
  const RidgeProblem problem{.objective = objective(),
                             .batch = batch_,
                             .ridge = query.ridge,
                             .linear = linear,
                             .most_per_row = scale.lipschitz};
  sum_.resize(parameters());
  minimise(problem, 2 * scale.smoothness + query.ridge, 0.5 * tolerance / divisor(), sum_);
  output.add_noise(sum_, random_);
  std::copy(sum_.begin(), sum_.end(), w.begin());
  return true;
}

bool PrivateOracle::label_counts(const LabelCountsQuery& query, std::span<double> counts) {
  constexpr const char* kWhat = "label counts";
  require_all_rows(kWhat);
  const std::size_t classes = objective().facts().label_classes;
  if (classes == 0) {
    throw InputError(
        fmt::format("{}: the labels of loss '{}' are no classes", kWhat, objective().facts().loss));
  }
  require_places(kWhat, counts.size(), classes);
  const GaussianMechanism mechanism(
      {.sensitivity = histogram_sensitivity_l2(relation()), .noise_multiplier = query.noise_multiplier});
  if (!charge_and_draw(query.event())) return false;
  std::vector<double> exact(classes);
  objective().label_counts(batch_, exact);
  mechanism.add_noise(exact, random_);
  std::copy(exact.begin(), exact.end(), counts.begin());
  return true;
}

}  // namespace ration
