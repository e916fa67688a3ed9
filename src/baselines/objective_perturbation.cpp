#include "baselines/objective_perturbation.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "baselines/one_release.h"
#include "mechanisms/objective_noise.h"

namespace ration {
namespace {

constexpr const char* kWhere = "objective perturbation";

class ObjectivePerturbation final : public OneRelease {
 public:
  ObjectivePerturbation(const ObjectivePerturbationOptions& options, std::size_t parameters)
      : OneRelease(parameters), options_(options) {
    require(kWhere, "noise_multiplier", options.noise_multiplier, greater_than(0));
    require(kWhere, "ridge", options.ridge, greater_than(0));
    require(kWhere, "row_norm", options.row_norm, greater_than(0));
    require(kWhere, "curvature_share", options.curvature_share, greater_than(0).less_than(1));
  }

 private:
  bool release(PrivateOracle& oracle, std::span<double> w, StepReport&) override {
    return oracle.perturbed_objective(
        objective_perturbation_query(options_, oracle.facts(), oracle.divisor(), oracle.relation()), w);
  }

  ObjectivePerturbationOptions options_;
};

}  // namespace

// A loss that is not smooth is the oracle's to refuse.
ObjectiveQuery objective_perturbation_query(const ObjectivePerturbationOptions& options,
                                            const PublicFacts& facts, double rows, Relation relation) {
  ObjectiveQuery query{
      .ridge = options.ridge, .row_norm = options.row_norm, .noise_multiplier = options.noise_multiplier};
  if (!std::isfinite(facts.curvature_bound)) return query;
  const double smoothness = facts.curvature_bound * options.row_norm * options.row_norm;
  const double needed = ObjectiveNoise::regulariser_for(
      {.smoothness = smoothness, .noise_multiplier = options.noise_multiplier, .relation = relation},
      options.curvature_share);
  query.ridge = std::max(options.ridge, needed / rows);
  return query;
}

std::unique_ptr<Method> make_objective_perturbation(const ObjectivePerturbationOptions& options,
                                                    std::size_t parameters) {
  return std::make_unique<ObjectivePerturbation>(options, parameters);
}

Event objective_perturbation_event(double noise_multiplier) {
  return ObjectiveQuery{.noise_multiplier = noise_multiplier}.event();
}

}  // namespace ration
