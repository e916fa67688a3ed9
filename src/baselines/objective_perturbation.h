#pragma once

#include <memory>

#include "methods/method.h"

namespace ration {

struct ObjectivePerturbationOptions {
  double noise_multiplier = 1;   // > 0
  double ridge = 0.001;          // > 0; the papers' value, and the least that is used
  double row_norm = 1;           // > 0; the rows' enforced bound
  double curvature_share = 0.5;  // 0 < share < 1; the most the change of the Hessian may take
};

// Objective perturbation [Chaudhuri11, Alg. 2; Kifer12]: the minimum of the regularised loss plus a random
// linear term; mechanisms/objective_noise.h says why that is private. Where the ridge is too small for it the
// ridge is raised, as both papers do, until the change of the Hessian takes no more than its share (half, as
// theirs). Losses of one output with a slope of one sign only (logistic, huber).
std::unique_ptr<Method> make_objective_perturbation(const ObjectivePerturbationOptions& options,
                                                    std::size_t parameters);

// What it asks, given what is public.
ObjectiveQuery objective_perturbation_query(const ObjectivePerturbationOptions& options,
                                            const PublicFacts& facts, double rows, Relation relation);

// The event of the whole run.
Event objective_perturbation_event(double noise_multiplier);

}  // namespace ration
