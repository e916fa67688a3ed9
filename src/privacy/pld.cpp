#include "privacy/pld.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "base/check.h"
#include "privacy/lattice_composition.h"
#include "privacy/mixture.h"
#include "privacy/plan_cumulant.h"
#include "privacy/rdp.h"

namespace ration {
namespace {

// What is cut off a step's top is at most e^{-kCutOff} of the delta that matters, and what its bottom
// contributes to the tilted moment, which is at least 1, at most e^{-kCutOff}.
constexpr double kCutOff = 32;
// Tilted standard deviations that a window spans, for choosing its resolution.
constexpr double kTypicalWindow = 20;

// One step needs no lattice: its curve has a closed form, also on the full batch, where all steps are merged
// into one.
bool is_single_step(const SampledGaussianPlan& plan) {
  return plan.size() == 1 && plan[0].count == 1;
}
// Covers the evaluation of that form and the merging of its steps.
constexpr double kExactRounding = 1e-10;
PldBounds around(double value) {
  return {value * (1 - kExactRounding), value * (1 + kExactRounding)};
}

// How far apart the bounds may be: relative to epsilon below 1, absolute above.
double slack(double epsilon, const PldOptions& options) {
  return options.tolerance * std::clamp(epsilon, 1e-12, 1.0);
}

// The P-mass that each step may lose at the top.
double log_lost(const SampledGaussianPlan& plan, double log_delta) {
  return log_delta - kCutOff - std::log(total_steps(plan));
}

// The curve is looked at again if it turns out this much steeper than the resolution was chosen for, or if
// errors make up more than e^{-kErrorsMatter} of delta.
constexpr double kSlopeMissed = 2;
constexpr double kErrorsMatter = 5;
constexpr int kMostPasses = 3;

// Half the distance between the losses of a high and a low output of an unsampled row: the width of the law's
// bulk.
double bulk(const SampledGaussian& step) {
  const auto loss = [&](double y) { return log_mixture(step.rate, (y - 0.5 / step.noise) / step.noise); };
  return 0.5 * (loss(1) - loss(-1));
}
double narrowest_bulk(const SampledGaussianPlan& plan) {
  double narrowest = std::numeric_limits<double>::infinity();
  for (const SampledGaussian& step : plan) narrowest = std::min(narrowest, bulk(step));
  return narrowest;
}

// Where on the curve the effort goes, and how.
struct Focus {
  double epsilon;  // an upper estimate
  double slope;    // of -log delta there
  double tilt;     // of the composed law
};

// Of the cells of the two lattices.
struct Widths {
  double upper;
  double lower;  // finer where the bulk is narrow: what is narrower than a cell has to be rounded down
};

// Connecting dots multiplies the moment at z by exp(z (z + 1) / 2 * E[(L - low)(high - L)]) per step, and
// with it moves epsilon by T (z + 1) / 2 * E[(L - low)(high - L)], z the slope. The expectation is about
// width^2 / 6 when the cells are small against the loss, and at most width * E|L| when they are not: the
// coarser width that meets the tolerance will do.
Widths widths_for(const SampledGaussianPlan& plan, PlanCumulant& cumulant, const Focus& focus,
                  const PldOptions& options) {
  const double steps = total_steps(plan);
  const auto [mean, variance] = cumulant.tilted(focus.tilt);
  const double per_step = 2 * slack(focus.epsilon, options) / ((focus.slope + 1) * steps);
  const double typical_loss = std::sqrt(variance / steps + mean * mean / (steps * steps));
  const double wanted = std::max(std::sqrt(6 * per_step), per_step / typical_loss);
  const double coarsest = 0.02 * std::max(focus.epsilon, std::sqrt(variance));
  const double window = std::max(kTypicalWindow * std::sqrt(variance), focus.epsilon);
  const double finest = window / static_cast<double>(options.max_points);
  const double upper = std::max(finest, std::min(wanted, coarsest));
  return {upper, std::max(finest, std::min(upper, 0.25 * narrowest_bulk(plan)))};
}

// The saddle of the Renyi bound is where to look first. It is the right place for a law close to normal.
Focus first_focus(PlanCumulant& cumulant, double delta) {
  const Saddle saddle = saddle_for_delta(cumulant, delta);
  return {saddle.epsilon, saddle.tilt, saddle.tilt};
}

// With small rates the law has a narrow bulk and a far, thin tail that rules the moments and with them the
// saddle. Once an upper bound on epsilon is known, the tilt need only be as large as the errors demand: with
// log_scale = K(z) - z epsilon they come to about e^{log_scale - 25}, which should move epsilon, at the slope
// known by now, by a small part of the slack.
Focus next_focus(PlanCumulant& cumulant, double log_delta, double epsilon, double slope,
                 const PldOptions& options) {
  constexpr double kLogErrors = -25;
  const double enough = log_delta - kLogErrors + std::log(0.1 * slope * slack(epsilon, options));
  const double steepest = saddle_for_epsilon(cumulant, epsilon).tilt;
  double tilt = std::min(steepest, 1 / epsilon);
  while (tilt < steepest && cumulant(tilt) - tilt * epsilon > enough) tilt *= 1.25;
  return {epsilon, slope, std::min(tilt, steepest)};
}

// One direction of one plan at one tilt: builds either bound on demand.
class DirectedPld {
 public:
  DirectedPld(const SampledGaussianPlan& plan, Direction direction, const Focus& focus,
              PlanCumulant& cumulant, double log_delta, const PldOptions& options)
      : plan_(plan),
        direction_(direction),
        tilt_(focus.tilt),
        range_{.log_lost = log_lost(plan, log_delta),
               .lowest = -(kCutOff + std::log(total_steps(plan))) / focus.tilt},
        widths_(widths_for(plan, cumulant, focus, options)),
        max_points_(options.max_points) {
    for (const SampledGaussian& step : plan) {
      const double finest = loss_span(step, direction, range_) / static_cast<double>(max_points_);
      widths_ = {std::max(widths_.upper, finest), std::max(widths_.lower, finest)};
    }
  }

  ComposedLoss upper() {
    return ComposedLoss(lattices(pessimistic_lattice, widths_.upper), tilt_, Rounding::up, max_points_,
                        transform_);
  }

  // Nothing if some step's loss was rounded away altogether: then only the trivial lower bound is left.
  std::optional<ComposedLoss> lower() {
    const std::vector<CountedLattice> steps = lattices(optimistic_lattice, widths_.lower);
    if (!std::all_of(steps.begin(), steps.end(), has_mass)) return std::nullopt;
    return ComposedLoss(steps, tilt_, Rounding::down, max_points_, transform_);
  }

  // What the cut-off tails of all steps take from delta, as a factor on it.
  static double after_cut_off(double log_delta) { return log_delta + std::log1p(-std::exp(-kCutOff)); }

 private:
  template <class Builder>
  std::vector<CountedLattice> lattices(Builder build, double width) const {
    std::vector<CountedLattice> out;
    for (const SampledGaussian& step : plan_)
      out.push_back({build(step, direction_, width, range_), step.count});
    return out;
  }
  static bool has_mass(const CountedLattice& step) {
    return std::any_of(step.lattice.mass.begin(), step.lattice.mass.end(),
                       [](double mass) { return mass > 0; });
  }

  const SampledGaussianPlan& plan_;
  Direction direction_;
  double tilt_;
  LossRange range_;
  Widths widths_;
  std::size_t max_points_;
  FourierTransform transform_;
};

enum class Wanted { upper, both };

// The Renyi bound at the saddle is a certified figure too; the rounding of its quadrature is far below 1e-9.
double renyi_bound(const Saddle& saddle) {
  return saddle.epsilon * (1 + 1e-9);
}

// The bound of the Renyi accountant, which has closed forms for little noise.
double renyi_epsilon_of(const SampledGaussianPlan& plan, double delta) {
  std::vector<Event> parts;
  for (const SampledGaussian& step : plan) {
    parts.push_back(
        Event::repeated(Event::poisson_sampled(step.rate, Event::gaussian(step.noise)), step.count));
  }
  return RdpCurve(Event::composed(std::move(parts)), Relation::add_remove).epsilon(delta).epsilon;
}

// Bounds for one direction. If its Renyi bound already lies within `other_upper`, what the other direction
// costs, it cannot decide the maximum and nothing is composed.
PldBounds directed_epsilon(const SampledGaussianPlan& plan, Direction direction, double delta,
                           const PldOptions& options, Wanted wanted, double other_upper) {
  if (is_single_step(plan)) return around(single_step_epsilon(plan[0], direction, delta));
  PlanCumulant whole(plan, direction);
  const double renyi = renyi_bound(saddle_for_delta(whole, delta));
  if (renyi <= other_upper) return {0, 0};
  // The lattice holds no more than what is left after the cut, so it is planned for that.
  const double log_delta = std::log(delta);
  PlanCumulant cumulant(plan, direction, {.log_lost = log_lost(plan, log_delta)});
  Focus focus = first_focus(cumulant, delta);
  PldBounds best{0, renyi};
  for (int pass = 0; pass < kMostPasses; ++pass) {
    DirectedPld pld(plan, direction, focus, cumulant, log_delta, options);
    const ComposedLoss pessimistic = pld.upper();
    best.upper = std::min(best.upper, pessimistic.epsilon(DirectedPld::after_cut_off(log_delta)));
    if (wanted == Wanted::both) {
      const auto optimistic = pld.lower();
      if (optimistic) best.lower = std::max(best.lower, optimistic->epsilon(log_delta));
    }
    // Whether to look again depends on the upper bound only, so that asking for it alone gives the same
    // figure.
    const double slope = pessimistic.slope(best.upper);
    const bool errors_matter = pessimistic.log_error(best.upper) > log_delta - kErrorsMatter;
    if (best.upper == 0 || (slope < kSlopeMissed * focus.slope && !errors_matter)) break;
    focus = next_focus(cumulant, log_delta, best.upper, std::max(slope, focus.slope), options);
  }
  return best;
}

void validate(const PldOptions& options) {
  require("PldOptions", "tolerance", options.tolerance, greater_than(0));
  require("PldOptions", "max_points", static_cast<double>(options.max_points), at_least(1024));
}

PldBounds both_directions_epsilon(std::span<const SampledGaussian> raw, double delta,
                                  const PldOptions& options, Wanted wanted) {
  require("pld_epsilon", "delta", delta, greater_than(0).less_than(1));
  validate(options);
  const SampledGaussianPlan plan = normalised(raw);
  if (plan.empty()) return {0, 0};
  if (!is_single_step(plan) && !can_be_tabulated(plan)) return {0, renyi_epsilon_of(plan, delta)};
  const PldBounds remove = directed_epsilon(plan, Direction::remove, delta, options, wanted, 0);
  const PldBounds add = directed_epsilon(plan, Direction::add, delta, options, wanted, remove.upper);
  return {std::max(remove.lower, add.lower), std::max(remove.upper, add.upper)};
}

PldBounds directed_delta(const SampledGaussianPlan& plan, Direction direction, double epsilon,
                         const PldOptions& options) {
  if (is_single_step(plan)) return around(single_step_delta(plan[0], direction, epsilon));
  PlanCumulant cumulant(plan, direction);
  const Saddle saddle = saddle_for_epsilon(cumulant, epsilon);
  // The integrand's height at the saddle is within a few orders of the value itself.
  const double log_height = std::min(0.0, cumulant(saddle.tilt) - saddle.tilt * epsilon) - 10;
  DirectedPld pld(plan, direction, {epsilon, saddle.tilt, saddle.tilt}, cumulant, log_height, options);
  const double upper = std::exp(pld.upper().log_delta(epsilon)) + std::exp(log_height - kCutOff);
  const auto optimistic = pld.lower();
  const double lower = optimistic ? std::exp(optimistic->log_delta(epsilon)) : 0;
  return {lower, std::min(1.0, upper)};
}

}  // namespace

PldBounds pld_epsilon(std::span<const SampledGaussian> plan, double delta, const PldOptions& options) {
  return both_directions_epsilon(plan, delta, options, Wanted::both);
}

double pld_epsilon_upper(std::span<const SampledGaussian> plan, double delta, const PldOptions& options) {
  return both_directions_epsilon(plan, delta, options, Wanted::upper).upper;
}

// No plan is known for which `add` is the larger at an epsilon >= 0. At 0 both are the total variation
// distance; beyond it `remove` is the larger for one step, and was for all plans of two and more that a
// random search drew. That is no proof, and randomised response on samples has compositions of which it is
// false (two steps of rates .9 and .17, local epsilons .5 and 2: at epsilon .3 `add` is 1.6 times `remove`).
// So both are computed, although no test is known that would find `add` forgotten.
PldBounds pld_delta(std::span<const SampledGaussian> raw, double epsilon, const PldOptions& options) {
  require("pld_delta", "epsilon", epsilon, at_least(0));
  validate(options);
  const SampledGaussianPlan plan = normalised(raw);
  if (plan.empty()) return {0, 0};
  if (!is_single_step(plan) && !can_be_tabulated(plan)) return {0, 1};
  const PldBounds remove = directed_delta(plan, Direction::remove, epsilon, options);
  const PldBounds add = directed_delta(plan, Direction::add, epsilon, options);
  return {std::max(remove.lower, add.lower), std::max(remove.upper, add.upper)};
}

}  // namespace ration
