// Whole runs of a network's plan on two neighbours: what is proven stays below the claim and comes near it,
// and a tenth of the noise is found out.
#include <gtest/gtest.h>

#include <algorithm>

#include "audit/audit.h"
#include "audit/overclaim.h"
#include "ration/objectives/neural/models.h"

namespace ration::nn {
namespace {

// Small, since thousands of them are trained; the canary's gradient is longer than the clip bound in each.
Plan network_plan() {
  Plan plan;
  plan.model = "mlp:8:tanh";
  plan.clip_bound = 1;
  plan.rate = 1;
  plan.steps = 1;
  plan.epsilon = 1;
  plan.delta = 1e-5;
  return plan;
}

// Other rows are there in both worlds, and pull at the biases.
Plan replacing_plan() {
  Plan plan = network_plan();
  plan.relation = Relation::replace_one;
  plan.rows = 20;
  return plan;
}

double largest_bound(const audit::Report& report) {
  double most = 0;
  for (const audit::Finding& finding : report.findings) {
    if (finding.counts) most = std::max(most, finding.bound);
  }
  return most;
}

class NetworkPlanAudit : public ::testing::Test {
 protected:
  NetworkPlanAudit() { use_networks(&all_networks()); }
};

// Contradicts a claim that holds with probability 1e-5 at most, by its confidence alone.
TEST_F(NetworkPlanAudit, StaysBelowItsClaim) {
  for (const Plan& plan : {network_plan(), replacing_plan()}) {
    const auto report = audit::audit_training(audit::worst_case_subject(plan),
                                              {.trials = 500, .confidence = 0.99999, .canaries = 50});
    EXPECT_FALSE(report.contradicts()) << largest_bound(report);
  }
}

// mu = 2.68 in place of .268. The Gaussian bound is 10.3 on average with a standard deviation of .9 (1000
// simulated audits): ten of them above the claim.
TEST_F(NetworkPlanAudit, FindsATenthOfTheNoise) {
  for (const Plan& plan : {network_plan(), replacing_plan()}) {
    const auto report = audit::audit_training(
        ration::testing::with_a_tenth_of_the_noise(plan),
        {.trials = 500, .confidence = 0.99, .view = audit::View::white_box, .canaries = 0});
    RecordProperty("bound", std::to_string(largest_bound(report)));
    EXPECT_TRUE(report.contradicts()) << largest_bound(report);
  }
}

// 300 simulated audits of mu = .268 with 20,000 runs gave .70 on average with a standard deviation of .080,
// 3.7 of them above .4 and 3.8 below 1; that 24,000 runs fail with probability below 1e-4 is extrapolated.
TEST_F(NetworkPlanAudit, ReachesWhatItShouldOnAWorstCaseCanaryAndNotMore) {
  const auto report = audit::audit_training(
      audit::worst_case_subject(network_plan()),
      {.trials = 24'000, .confidence = 0.99, .view = audit::View::white_box, .canaries = 0});
  RecordProperty("bound", std::to_string(largest_bound(report)));
  EXPECT_GE(largest_bound(report), 0.4);
  EXPECT_LE(largest_bound(report), 1.001);
}

}  // namespace
}  // namespace ration::nn
