#pragma once

#include "audit/audit.h"
#include "privacy/gdp.h"

namespace ration::testing {

// NOT PRIVATE: for tests only. The runs of another plan, which spends so much more that its noise is a tenth,
// under the claim of the first: what a library would do whose noise is ten times too small.
inline Plan plan_with_a_tenth_of_the_noise(const ResolvedPlan& honest, Plan plan) {
  if (honest.fixed() != nullptr) {
    plan.noise = honest.noise_multiplier / 10;
    plan.epsilon = 1e4;  // whatever that costs
  } else if (honest.protector() != nullptr) {
    plan.protector = honest.plan.protector;
    plan.epsilon = gdp_epsilon(10 * gdp_mu(*plan.epsilon, *plan.delta), *plan.delta);
  } else {
    plan.epsilon = 10 * *plan.epsilon;  // to which each query's noise is in inverse proportion
  }
  return plan;
}

inline audit::Subject with_a_tenth_of_the_noise(const Plan& plan) {
  audit::Subject subject = audit::worst_case_subject(plan);
  Plan weaker = plan_with_a_tenth_of_the_noise(subject.plan, plan);
  weaker.rows = subject.plan.plan.rows;
  subject.plan = resolve(weaker);
  return subject;
}

}  // namespace ration::testing
