#include "ration/privacy/accountant.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "base/check.h"
#include "privacy/advanced.h"
#include "privacy/gdp.h"
#include "privacy/pld.h"
#include "privacy/rdp.h"
#include "privacy/steps.h"
#include "privacy/tcdp.h"
#include "privacy/zcdp.h"
#include "privacy/zcdp_cost.h"
#include "ration/base/error.h"

namespace ration {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// Covers the rounding of quadratures and sums (about 1e-12 relative) where a function rounds to nearest.
constexpr double kAgainstUs = 1 + 1e-10;

// Which combinations a theorem covers; tCDP's numeric conditions are checked where it is computed.
bool covers(Accountant accountant, const Step& step) {
  const bool gaussian = step.gaussian_noise.has_value();
  switch (accountant) {
    case Accountant::rdp:
      return true;
    case Accountant::pld:
    case Accountant::gdp:
    case Accountant::moments:
      return gaussian && step.sampling != Sampling::fixed_size;
    case Accountant::zcdp:
      return step.sampling == Sampling::full;
    case Accountant::tcdp:
      return step.sampling != Sampling::poisson;
    case Accountant::advanced:
      return gaussian;
  }
  return false;
}

std::string what_would_work(const Step& step) {
  std::string names;
  for (const Accountant accountant : kAccountants) {
    if (!covers(accountant, step)) continue;
    const bool approximate = accountant == Accountant::gdp && step.sampling != Sampling::full;
    if (!approximate) names += fmt::format("{}'{}'", names.empty() ? "" : ", ", to_string(accountant));
  }
  return names;
}

// Of several mechanisms on one sample, the one that keeps the Gaussian accountants out.
const Event& first_not_gaussian(const Step& step) {
  const auto is_gaussian = [](const CountedEvent& item) {
    return std::holds_alternative<Event::Gaussian>(item.event.node());
  };
  return std::find_if_not(step.mechanisms.begin(), step.mechanisms.end(), is_gaussian)->event;
}

std::string describe(const Step& step) {
  const std::string what = step.gaussian_noise ? "Gaussian" : first_not_gaussian(step).describe();
  return step.sampling == Sampling::full ? fmt::format("{} on the full batch", what)
                                         : fmt::format("{} on {} samples", what, in_words(step.sampling));
}

std::string why_not(Accountant accountant, const Step& step) {
  if (covers(accountant, step)) return {};
  return fmt::format("accountant '{}' cannot certify {}; use {}", to_string(accountant), describe(step),
                     what_would_work(step));
}

Guarantee by_rdp(Guarantee out, const Event& event) {
  const RdpOptimum best = RdpCurve(event, out.relation).epsilon(out.delta);
  out.epsilon = best.epsilon * kAgainstUs;
  out.detail = fmt::format("order {:.4g}", best.order);
  return out;
}

Guarantee by_pld(Guarantee out, const std::vector<Step>& steps) {
  const PldBounds bounds = pld_epsilon(gaussian_plan(steps), out.delta);
  out.epsilon = bounds.upper;
  out.epsilon_lower = bounds.lower;
  out.detail = fmt::format("bracket {:.2g}", bounds.upper - bounds.lower);
  return out;
}

Guarantee by_zcdp(Guarantee out, const std::vector<Step>& steps) {
  double rho = 0;
  for (const Step& step : steps) rho += static_cast<double>(step.count) * zcdp_cost(step);
  out.epsilon = zcdp_epsilon(rho * kAgainstUs, out.delta);
  out.detail = fmt::format("rho {:.6g}", rho);
  return out;
}

Guarantee by_tcdp(Guarantee out, const std::vector<Step>& steps) {
  std::vector<Tcdp> spent;
  for (const Step& step : steps) {
    // Rounded up after the theorem, not before: its conditions are on the mechanism itself, and refusal()
    // checks the same.
    const double rho = zcdp_cost(step);
    Tcdp one = step.sampling == Sampling::full ? Tcdp{rho, kInfinity} : subsample_zcdp(rho, step.rate);
    one.rho *= static_cast<double>(step.count) * kAgainstUs;
    spent.push_back(one);
  }
  const Tcdp total = tcdp_compose(spent);
  out.epsilon = tcdp_epsilon(total, out.delta);
  out.detail = fmt::format("rho {:.6g}, omega {:.4g}", total.rho, total.omega);
  return out;
}

Guarantee by_gdp(Guarantee out, const std::vector<Step>& steps) {
  double squared_mu = 0;
  for (const Step& step : steps) {
    const double count = static_cast<double>(step.count);
    const bool full = step.sampling == Sampling::full;
    const double mu = full ? std::sqrt(count) / *step.gaussian_noise
                           : gdp_clt_mu_poisson(step.rate, *step.gaussian_noise, count);
    squared_mu += mu * mu;
    out.certified = out.certified && full;
  }
  const double mu = std::sqrt(squared_mu);
  out.epsilon = gdp_epsilon(mu * (1 + 1e-14), out.delta);
  if (out.certified) out.epsilon_lower = out.epsilon * (1 - 1e-9);
  out.detail =
      fmt::format("mu {:.6g}{}", mu, out.certified ? ", exact" : ", central limit: an approximation");
  return out;
}

Guarantee by_advanced(Guarantee out, const std::vector<Step>& steps) {
  out.epsilon = advanced_gaussian_epsilon(gaussian_plan(steps), out.delta);
  out.detail = "best split of delta";
  return out;
}

// Whole orders: the paper's, which end at 33, and beyond them every tenth part, since a small epsilon needs
// an order of about 2 ln(1/delta) / epsilon.
std::vector<double> moment_orders() {
  constexpr double kLast = 4096;
  std::vector<double> orders(32);
  std::iota(orders.begin(), orders.end(), 2.0);
  while (orders.back() < kLast) orders.push_back(std::ceil(1.1 * orders.back()));
  return orders;
}

// The moments of order lambda = 1, 2, ... are the Renyi divergences of order lambda + 1. [Abadi16, Sec. 3.2,
// Thm 2]
Guarantee by_moments(Guarantee out, const Event& event) {
  static const std::vector<double> orders = moment_orders();
  const RdpOptimum best = RdpCurve(event, out.relation).epsilon(out.delta, orders, RdpConversion::classic);
  out.epsilon = best.epsilon * kAgainstUs;
  out.detail = fmt::format("lambda {:.4g}", best.order - 1);
  return out;
}

}  // namespace

std::string refusal(const Event& event, Relation relation, Accountant accountant) {
  try {
    for (const Step& step : steps_of(event, relation)) {
      if (std::string reason = why_not(accountant, step); !reason.empty()) return reason;
      if (accountant != Accountant::tcdp || step.sampling == Sampling::full) continue;
      const auto violations = subsampling_violations(zcdp_cost(step), step.rate);
      if (!violations.empty()) return fmt::format("accountant 'tcdp': {}", violations.front().sentence);
    }
  } catch (const InputError& error) {
    return error.what();
  }
  return {};
}

Guarantee account(const Event& event, Relation relation, Accountant accountant, double delta) {
  if (delta == 0 && accountant == Accountant::rdp) {
    if (const auto epsilon = pure_epsilon(event, relation)) {
      return {.accountant = accountant,
              .relation = relation,
              .epsilon = *epsilon,
              .delta = 0,
              .detail = "order infinity"};
    }
  }
  require("account", "delta", delta, greater_than(0).less_than(1));
  const std::vector<Step> steps = steps_of(event, relation);
  for (const Step& step : steps) {
    if (std::string reason = why_not(accountant, step); !reason.empty()) throw InputError(reason);
  }
  Guarantee out{.accountant = accountant, .relation = relation, .epsilon = 0, .delta = delta};
  if (steps.empty()) return out;
  switch (accountant) {
    case Accountant::rdp:
      return by_rdp(std::move(out), event);
    case Accountant::pld:
      return by_pld(std::move(out), steps);
    case Accountant::zcdp:
      return by_zcdp(std::move(out), steps);
    case Accountant::tcdp:
      return by_tcdp(std::move(out), steps);
    case Accountant::gdp:
      return by_gdp(std::move(out), steps);
    case Accountant::advanced:
      return by_advanced(std::move(out), steps);
    case Accountant::moments:
      return by_moments(std::move(out), event);
  }
  throw InternalError("account: unknown accountant");
}

}  // namespace ration
