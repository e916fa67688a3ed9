#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "base/check.h"
#include "methods/protector.h"
#include "privacy/tcdp.h"
#include "ration/base/error.h"
#include "ration/privacy/filter.h"

namespace ration {
namespace {

constexpr double kStrictly = 1 + 1e-9;  // far above rounding, far below what anyone would notice

// sum of 1 / noise^2 over what a step releases, relative to the gradient's.
double step_weight(const Protector& protector) {
  double sum = 0;
  for (const Event& event : protected_step_events(protector, 1)) {
    const double noise = std::get<Event::Gaussian>(event.node()).noise_multiplier;
    sum += 1 / (noise * noise);
  }
  return sum;
}

double rho_of(double noise) {
  return 1 / (2 * noise * noise);
}
double noise_of(double rho) {
  return kStrictly / std::sqrt(2 * rho);
}

void require_conditions(const Protector& protector, double even, double rate, const Ctcdp& worth) {
  for (const Event& event : protected_step_events(protector, even)) {
    const double noise = std::get<Event::Gaussian>(event.node()).noise_multiplier;
    const auto violations = subsampling_violations(rho_of(noise), rate, worth);
    if (violations.empty()) continue;
    throw InputError(
        fmt::format("l2p: accountant tcdp has no theorem for even noise {} on batches of rate q = {}: {}; "
                    "leave the rate out for one that fits, or use rdp",
                    show(noise), show(rate), violations.front().sentence));
  }
}

// The smallest noise with which the subsampling theorem holds. [L2P, Eq. 13]
double least_noise_of_theorem(double rate, const Ctcdp& worth) {
  const double by_omega = std::log(1 / rate) / (4 * worth.omega_a);
  const double by_budget = worth.rho_a / (13 * rate * rate);
  return noise_of(std::min({0.1, by_omega, by_budget}));
}

NoiseRange ctcdp_noise(const Protector& protector, double rate, const Budget& budget, double steps) {
  const Ctcdp worth = Ctcdp::from_budget(budget.epsilon, budget.delta);
  const double amplification = rate < 1 ? 13 * rate * rate : 1;
  const double even = noise_of(worth.rho_a / (steps * step_weight(protector) * amplification));
  if (rate == 1) return {.even = even, .least = noise_of(worth.rho_a), .floor = noise_of(worth.rho_a)};
  require_conditions(protector, even, rate, worth);
  const double least = std::min(even, least_noise_of_theorem(rate, worth));
  return {.even = even, .least = least, .floor = least};
}

double rate_of(const Sampler& sampler) {
  const Event sampled = sampler.sampled(Event::gaussian(1));
  const auto* const fixed = std::get_if<Event::FixedSizeSampled>(&sampled.node());
  return fixed != nullptr ? fixed->rate : 1;
}

using EventOf = std::function<Event(double)>;

// A protector practises where a step's cost is in proportion to 1 / noise^2. At the one order of an RDP
// filter, that of a sampled step is, until noise becomes so small that the curve bends upwards and one step
// takes it all: on small batches, just below the even noise. This is the smallest noise whose cost is no more
// than a quarter above proportion.
double least_noise_of_curve(const EventOf& step_with, const EventOf& one_with, Relation relation,
                            const Budget& budget, const NoiseRange& range, double queries) {
  constexpr double kRoom = 1.25;
  const auto in_proportion = [&](double noise) {
    const auto filter = make_filter(Accountant::rdp, budget, relation, step_with(range.even));
    const double share = kRoom * (range.even / noise) * (range.even / noise) / queries;
    return filter->spend(one_with(noise)) && filter->spent_share() <= share;
  };
  double low = range.least, high = range.even;
  if (in_proportion(low)) return low;
  while (high / low > 1.001) {
    const double middle = std::sqrt(low * high);
    (in_proportion(middle) ? high : low) = middle;
  }
  return high;
}

}  // namespace

NoiseRange protector_noise(const Protector& protector, const Sampler& sampler, Accountant accountant,
                           const Budget& budget, std::int64_t steps) {
  require("l2p", "steps", static_cast<double>(steps), at_least(1));
  const auto step_with = [&](double noise) {
    std::vector<Event> parts;
    for (const Event& event : protected_step_events(protector, noise))
      parts.push_back(sampler.sampled(event));
    return Event::composed(std::move(parts));
  };
  const auto run_with = [&](double noise) { return Event::repeated(step_with(noise), steps); };
  const auto one_with = [&](double noise) { return sampler.sampled(Event::gaussian(noise)); };
  if (accountant == Accountant::tcdp) {
    if (std::string reason = refusal(one_with(1e6), sampler.relation(), accountant); !reason.empty())
      throw InputError("l2p: " + reason);
    return ctcdp_noise(protector, rate_of(sampler), budget, static_cast<double>(steps));
  }
  const double floor = calibrate_noise(one_with, sampler.relation(), accountant, budget);
  NoiseRange range{.even = calibrate_noise(run_with, sampler.relation(), accountant, budget),
                   .least = floor,
                   .floor = floor};
  range.even = std::max(range.even, range.least);
  if (accountant == Accountant::rdp && rate_of(sampler) < 1)
    range.least = least_noise_of_curve(step_with, one_with, sampler.relation(), budget, range,
                                       static_cast<double>(steps) * step_weight(protector));
  return range;
}

double protector_rate(const Protector& protector, const Budget& budget, std::int64_t steps,
                      std::int64_t rows) {
  // A step that releases the norm too is worth several that do not.
  const double queries = static_cast<double>(steps) * step_weight(protector);
  const CtcdpPlan plan = plan_subsampled_steps({.epsilon = budget.epsilon,
                                                .delta = budget.delta,
                                                .steps = static_cast<std::int64_t>(std::ceil(queries)),
                                                .rows = rows});
  return static_cast<double>(plan.batch_size) / static_cast<double>(rows);
}

}  // namespace ration
