#include "meta/protections.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "ration/clipping/sensitivity.h"
#include "ration/sampling/fixed_size.h"
#include "ration/sampling/full.h"

namespace ration::meta {
namespace {

// What a budget means for a task: the noise depends on how it is sampled.
Protection protection_for(const MetaOptions& options, const Protector& protector, double epsilon,
                          const Task& task) {
  const std::size_t rows = task.step_rows();
  const std::size_t all = task.rows();
  const Budget budget{epsilon, options.budget.delta};
  const bool sampled = rows < all;
  const FullSampler full({.rows = all, .declared_rows = static_cast<double>(all)}, options.relation);
  std::optional<FixedSizeSampler> fixed;
  if (sampled) fixed.emplace(all, rows);
  const Sampler& sampler = sampled ? static_cast<const Sampler&>(*fixed) : full;
  const NoiseRange range = protector_noise(protector, sampler, options.accountant, budget, options.steps);
  return {.clip = options.clip,
          .sensitivity = options.clip.sensitivity(sampler.relation()),
          .even = range.even,
          .least = range.least,
          .steps = static_cast<double>(options.steps),
          .norm_noise = options.norm_noise_ratio * range.even};
}

}  // namespace

Protection Protections::of(const Protector& protector, double epsilon, const Task& task) {
  const bool releases = !protector.scheduler.empty() && options_.norm == NormSource::released;
  const double rate = static_cast<double>(task.step_rows()) / static_cast<double>(task.rows());
  Protection protection = alike(protector, epsilon, task, rate, releases);
  protection.divisor = options_.rows > 0 ? rate * options_.rows : static_cast<double>(task.step_rows());
  if (releases)
    protection.norm_sensitivity = squared_norm_sensitivity(
        options_.clip.bound(), static_cast<std::uint64_t>(protection.divisor), options_.relation);
  return protection;
}

Protection Protections::alike(const Protector& protector, double epsilon, const Task& task, double rate,
                              bool releases) {
  const auto same = [&](const Known& one) {
    return one.epsilon == epsilon && std::abs(one.rate - rate) < 1e-4 && one.releases == releases;
  };
  const auto known = std::find_if(known_.begin(), known_.end(), same);
  if (known != known_.end()) return known->protection;
  known_.push_back({epsilon, rate, releases, protection_for(options_, protector, epsilon, task)});
  return known_.back().protection;
}

}  // namespace ration::meta
