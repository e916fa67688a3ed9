#include "private_run.h"

#include "base/public_random.h"
#include "ration/oracle/oracle.h"
#include "ration/privacy/filter.h"
#include "ration/sampling/full.h"

namespace ration::e5 {
namespace {

FullSampler all_rows(const Objective& objective) {
  return FullSampler({.rows = objective.rows(), .declared_rows = static_cast<double>(objective.rows())},
                     Relation::add_remove);
}

std::vector<double> weights_of(const Method& method, std::size_t parameters) {
  std::vector<double> w(parameters);
  method.weights(w);
  return w;
}

}  // namespace

PrivateRun run_privately(Objective& objective, Method& method, const RunOptions& options) {
  const FullSampler sampler = all_rows(objective);
  const auto filter = make_filter(options.accountant, options.budget, Relation::add_remove);
  PublicRandom random(options.seed);
  PrivateOracle oracle(objective, sampler, *filter, random);
  PrivateRun run;
  run.weights.push_back(weights_of(method, objective.parameters()));
  while (method.step(oracle)) {
    if (!options.keep_all) run.weights.clear();
    run.weights.push_back(weights_of(method, objective.parameters()));
  }
  run.spent = filter->spent_share();
  return run;
}

PrivateRun run_protector(Objective& objective, std::shared_ptr<const Protector> protector,
                         const std::vector<double>& start, const RunOptions& options) {
  const NoiseRange range = protector_noise(*protector, all_rows(objective), options.accountant,
                                           options.budget, protector->origin.steps);
  const auto method = make_protected_descent(
      {.protector = std::move(protector), .noise = range.even, .least_noise = range.least, .start = start},
      objective.parameters());
  return run_privately(objective, *method, options);
}

}  // namespace ration::e5
