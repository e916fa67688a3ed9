#include "privacy/tcdp.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/special_functions/lambert_w.hpp>
#include <cmath>
#include <limits>
#include <numbers>

#include "base/check.h"
#include "ration/base/error.h"

namespace ration {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kUlp = std::numeric_limits<double>::epsilon();
constexpr double kAmplification = 13;
constexpr double kRangeLimit = 0.1;
// Strict inequalities are kept by this factor, far above rounding and far below anything a user would notice.
constexpr double kNudge = 1e-9;

void require_tcdp(const Tcdp& spent) {
  require("tCDP", "rho", spent.rho, at_least(0));
  if (spent.omega != kInfinity) require("tCDP", "omega", spent.omega, greater_than(1));
}

double log_inverse(double rate) {
  return -std::log(rate);
}

// The right side of log_inv_q.
double needed_log_inverse(double rho) {
  return 3 * rho * (2 - std::log2(rho));
}

double omega_limit(double rate, const Ctcdp& budget) {
  return log_inverse(rate) / (4 * budget.omega_a);
}

double rho_a_limit(double rate, const Ctcdp& budget) {
  return budget.rho_a / (kAmplification * rate * rate);
}

TcdpViolation outside_range(const char* name, const char* symbol, double value) {
  return {name, value, value > 0 ? kRangeLimit : 0.0,
          fmt::format("{}: expected 0 < {} <= {}, got {} = {}", name, symbol, show(kRangeLimit), symbol,
                      show(value))};
}

TcdpViolation too_large(const char* name, const char* formula, double rho, double bound) {
  return {name, rho, bound,
          fmt::format("{}: expected rho < {} = {}, got rho = {}", name, formula, show(bound), show(rho))};
}

TcdpViolation rate_too_large(double rate, double bound) {
  const double value = log_inverse(rate);
  return {"log_inv_q", value, bound,
          fmt::format("log_inv_q: expected ln(1/q) >= 3 rho (2 + log2(1/rho)) = {}, got ln(1/q) = {}",
                      show(bound), show(value))};
}

bool in_range(double value) {
  return value > 0 && value <= kRangeLimit;
}

Tcdp amplify(double rho, double rate, const std::vector<TcdpViolation>& violations) {
  if (!violations.empty()) {
    std::string sentences;
    for (const auto& violation : violations) sentences += "; " + violation.sentence;
    throw InputError("tCDP subsampling: " + sentences.substr(2));
  }
  return {kAmplification * rate * rate * rho * (1 + 4 * kUlp),
          log_inverse(rate) / (4 * rho) * (1 - 4 * kUlp)};
}

Ctcdp budget_of(const CtcdpPlanInput& input) {
  require("ctCDP plan", "steps", static_cast<double>(input.steps), at_least(1));
  require("ctCDP plan", "rows", static_cast<double>(input.rows), at_least(1));
  require("ctCDP plan", "sensitivity", input.sensitivity, greater_than(0));
  return Ctcdp::from_budget(input.epsilon, input.delta);
}

double noise_for(double rho, double sensitivity) {
  return sensitivity / std::sqrt(2 * rho) * (1 + 4 * kUlp);
}

// The smallest rate at which a step that must cost rho_amplified after amplification satisfies the
// conditions.
//
// A step's zCDP is r(q) = rho_amplified/(13 q^2). For q <= 0.1 every remaining condition is a lower bound on
// q:
//   rho_range      q >= sqrt(rho_amplified/1.3);
//   rho_vs_omega   q^2 ln(1/q) > 4 omega_a rho_amplified/13, whose left side increases up to q = e^{-1/2}.
//   With
//                  y = 2 ln q it reads y e^y < -8 omega_a rho_amplified/13: Lambert's W, the branch below -1,
//                  is the smaller of the two solutions (the other lies beyond e^{-1/2}).
//   log_inv_q      follows from the ranges (see tcdp.h);
//   rho_vs_rho_a   does not depend on q.
// All of them must hold, so q is the LARGEST of these bounds; the paper's "smaller solution" picks among the
// two solutions of one equation. The paper's Eq. for log_inv_q has rho_tot/(13 q^2) in one place and
// rho'_0/(13 q^2) in the other; Lemma A.6 is a statement about one step, so both must be rho'_0/(13 q^2) =
// rho_0.
double smallest_rate(double rho_amplified, const Ctcdp& budget) {
  const double by_range = std::sqrt(rho_amplified / (kAmplification * kRangeLimit));
  const double lambert = -8 * budget.omega_a * rho_amplified / kAmplification;
  const bool solvable = lambert > -1 / std::numbers::e;
  const double by_omega = solvable ? std::exp(boost::math::lambert_wm1(lambert) / 2) : kInfinity;
  // Where the bounds lie beyond 0.1, the conditions are tested at 0.1 to name those that fail.
  return std::min(std::max(by_range, by_omega) * (1 + kNudge), kRangeLimit);
}

// rho_0 for this rate; a single step may take the whole budget only up to the strict inequality.
double step_rho(double rho_amplified, double rate, const Ctcdp& budget) {
  const double rho = rho_amplified / (kAmplification * rate * rate);
  return std::min(rho, rho_a_limit(rate, budget) * (1 - kNudge)) * (1 - 4 * kUlp);
}

}  // namespace

Tcdp tcdp_compose(std::span<const Tcdp> parts) {
  Tcdp sum{0, kInfinity};
  for (const Tcdp& part : parts) {
    require_tcdp(part);
    sum.rho += part.rho;
    sum.omega = std::min(sum.omega, part.omega);
  }
  return sum;
}

double tcdp_epsilon(const Tcdp& spent, double delta) {
  require_tcdp(spent);
  const double L = log_inverse(require("tCDP", "delta", delta, greater_than(0).less_than(1)));
  const double best_order_minus_one = std::sqrt(L / spent.rho);  // +infinity for rho = 0
  if (best_order_minus_one <= spent.omega - 1 && spent.rho > 0) {
    return (spent.rho + 2 * std::sqrt(spent.rho * L)) * (1 + 4 * kUlp);
  }
  if (spent.omega == kInfinity) return 0;
  return (spent.rho * spent.omega + L / (spent.omega - 1)) * (1 + 4 * kUlp);
}

Ctcdp Ctcdp::from_budget(double epsilon, double delta) {
  require("ctCDP", "epsilon", epsilon, greater_than(0));
  require("ctCDP", "delta", delta, greater_than(0).less_than(1));
  const double a = log_inverse(delta) / epsilon;
  const double root = std::sqrt(a), next_root = std::sqrt(a + 1);
  // (sqrt(a+1) - sqrt(a))^2 = 1/(sqrt(a+1) + sqrt(a))^2, which does not cancel.
  const double sum = next_root + root;
  return {.a = a, .omega_a = next_root * sum, .rho_a = epsilon / sum / sum * (1 - 8 * kUlp)};
}

std::vector<TcdpViolation> subsampling_violations(double rho, double rate) {
  std::vector<TcdpViolation> violated;
  if (!in_range(rho)) violated.push_back(outside_range("rho_range", "rho", rho));
  if (!in_range(rate)) violated.push_back(outside_range("q_range", "q", rate));
  if (!(rho > 0 && rate > 0)) return violated;
  const double needed = needed_log_inverse(rho);
  if (!(log_inverse(rate) >= needed)) violated.push_back(rate_too_large(rate, needed));
  return violated;
}

std::vector<TcdpViolation> subsampling_violations(double rho, double rate, const Ctcdp& budget) {
  auto violated = subsampling_violations(rho, rate);
  if (!(rho > 0 && rate > 0)) return violated;
  const double by_omega = omega_limit(rate, budget), by_rho_a = rho_a_limit(rate, budget);
  if (!(rho < by_omega)) violated.push_back(too_large("rho_vs_omega", "ln(1/q)/(4 omega_a)", rho, by_omega));
  if (!(rho < by_rho_a)) violated.push_back(too_large("rho_vs_rho_a", "rho_a/(13 q^2)", rho, by_rho_a));
  return violated;
}

Tcdp subsample_zcdp(double rho, double rate) {
  return amplify(rho, rate, subsampling_violations(rho, rate));
}

Tcdp subsample_zcdp(double rho, double rate, const Ctcdp& budget) {
  return amplify(rho, rate, subsampling_violations(rho, rate, budget));
}

CtcdpPlan plan_subsampled_steps(const CtcdpPlanInput& input) {
  const Ctcdp budget = budget_of(input);
  const auto rows = static_cast<double>(input.rows);
  const double rho_amplified = budget.rho_a / static_cast<double>(input.steps);

  double rate = (std::sqrt(rows) + 10) / rows;
  if (!subsampling_violations(step_rho(rho_amplified, rate, budget), rate, budget).empty()) {
    rate = smallest_rate(rho_amplified, budget);
  }
  const double rho = step_rho(rho_amplified, rate, budget);
  subsample_zcdp(rho, rate, budget);  // throws, naming the conditions that no rate satisfies

  // The true rate batch/rows is at most q, and at a fixed rho each condition and the cost only improve as q
  // falls.
  const double batch = std::floor(rate * rows);
  if (batch < 1) {
    throw InputError(
        fmt::format("ctCDP plan: expected batch_size >= 1, got floor(q n) = 0 with q = {}, n = {}",
                    show(rate), input.rows));
  }
  // Eq. 10 and, because Lemma A.6 asks for it too, the range of rho.
  const double rho_max = std::min(
      {omega_limit(rate, budget) * (1 - kNudge), rho_a_limit(rate, budget) * (1 - kNudge), kRangeLimit});
  return {.budget = budget,
          .rho_total = budget.rho_a,
          .rate = rate,
          .batch_size = static_cast<std::int64_t>(batch),
          .rho_step = rho,
          .rho_step_max = rho_max,
          .noise = noise_for(rho, input.sensitivity),
          .noise_min = noise_for(rho_max, input.sensitivity)};
}

CtcdpPlan plan_full_batch_steps(const CtcdpPlanInput& input) {
  const Ctcdp budget = budget_of(input);
  const double rho = budget.rho_a / static_cast<double>(input.steps) * (1 - 4 * kUlp);
  return {.budget = budget,
          .rho_total = budget.rho_a,
          .rate = 1,
          .batch_size = input.rows,
          .rho_step = rho,
          .rho_step_max = budget.rho_a,
          .noise = noise_for(rho, input.sensitivity),
          .noise_min = noise_for(budget.rho_a, input.sensitivity)};
}

}  // namespace ration
