#include <algorithm>
#include <cmath>

#include "ration/methods/protector.h"
#include "ration/privacy/tcdp.h"

namespace ration {
namespace {

// The conditions of the subsampling theorem, which no step may violate, as the smallest noise multiplier. [L2P, Eq. 13]
double least_noise_of_theorem(const Sampler& sampler, const Budget& budget) {
  const Event sampled = sampler.sampled(Event::gaussian(1));
  const auto* const fixed = std::get_if<Event::FixedSizeSampled>(&sampled.node());
  if (fixed == nullptr || fixed->rate >= 1) return 0;
  const Ctcdp worth = Ctcdp::from_budget(budget.epsilon, budget.delta);
  const double q = fixed->rate;
  const double most_rho = std::min({0.1, std::log(1 / q) / (4 * worth.omega_a), worth.rho_a / (13 * q * q)});
  constexpr double kStrictly = 1 + 1e-9;
  return kStrictly / std::sqrt(2 * most_rho);
}

}  // namespace

NoiseRange protector_noise(const Protector& protector, const Sampler& sampler, Accountant accountant,
                           const Budget& budget, std::int64_t steps) {
  const auto step_with = [&](double noise) {
    std::vector<Event> parts;
    for (const Event& event : protected_step_events(protector, noise)) parts.push_back(sampler.sampled(event));
    return Event::composed(std::move(parts));
  };
  const auto run_with = [&](double noise) { return Event::repeated(step_with(noise), steps); };
  const auto one_with = [&](double noise) { return sampler.sampled(Event::gaussian(noise)); };
  NoiseRange range{.even = calibrate_noise(run_with, sampler.relation(), accountant, budget),
                   .least = calibrate_noise(one_with, sampler.relation(), accountant, budget)};
  if (accountant == Accountant::tcdp) range.least = std::max(range.least, least_noise_of_theorem(sampler, budget));
  range.even = std::max(range.even, range.least);
  return range;
}

}  // namespace ration
