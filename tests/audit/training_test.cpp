// The audit of whole runs, at its quickest; training_slow.cpp has all methods.
#include <gtest/gtest.h>

#include "audit/audit.h"
#include "audit/overclaim.h"

namespace ration::audit {
namespace {

Plan few_steps_of_all_rows() {
  Plan plan;
  plan.method = "dpsgd";
  plan.epsilon = 1;
  plan.delta = 1e-5;
  plan.steps = 3;
  return plan;
}

// A made-up table is none of texts, but the plan that is audited is the one that texts would get.
TEST(AuditOfARun, IsOfTheMethodThatTheNamedRowsWouldGet) {
  Plan plan;
  plan.data = "text:anywhere";
  plan.epsilon = 1;
  plan.delta = 1e-5;
  const Plan audited = worst_case_subject(plan).plan.plan;
  EXPECT_EQ(audited.model, "logistic");
  EXPECT_EQ(audited.method, "dpsgd");
  EXPECT_EQ(audited.lr, 60);
  plan.data.clear();
  EXPECT_EQ(worst_case_subject(plan).plan.plan.method, "auto");
}

double largest_bound(const Report& report) {
  double most = 0;
  for (const Finding& finding : report.findings) {
    if (finding.counts) most = std::max(most, finding.bound);
  }
  return most;
}

// The run is mu-GDP with mu = .268, and .4 needs a bound of .116 on mu. In 300 simulated audits of such a
// mechanism with 20,000 runs the bound was .70 on average with a standard deviation of .080, between .41 and
// .92: 3.7 of them above .4, 3.8 below 1. That 30,000 runs fail with probability below 1e-4 is extrapolated.
TEST(AuditOfARun, ReachesWhatItShouldOnWorstCaseCanariesAndNotMore) {
  const Report report =
      audit_training(worst_case_subject(few_steps_of_all_rows()),
                     {.trials = 30'000, .confidence = 0.99, .view = View::white_box, .canaries = 0});
  EXPECT_FALSE(report.contradicts());
  EXPECT_GE(largest_bound(report), 0.4);
  EXPECT_LE(largest_bound(report), 1.001);
}

// A tenth of the noise is mu = 2.68: of 250 runs that judge, some 62 % are caught where hardly one in 125
// gives a false alarm, which proves more than 3. Fails by chance with probability below 1e-9.
TEST(AuditOfARun, FindsATenthOfTheNoise) {
  for (const View view : {View::white_box, View::black_box}) {
    const Report report = audit_training(ration::testing::with_a_tenth_of_the_noise(few_steps_of_all_rows()),
                                         {.trials = 500, .confidence = 0.999, .view = view});
    EXPECT_TRUE(report.contradicts());
    EXPECT_GT(largest_bound(report), 2);
  }
}

// Each canary is seen as well as the only row of a table, but not a tenth of the noise's whole effect: of the
// sixteen surest guesses of 500 nearly all are right. Fails by chance with probability below 1e-6.
TEST(AuditOfARun, OneRunWithManyCanariesFindsATenthOfTheNoise) {
  const Report report = audit_training(ration::testing::with_a_tenth_of_the_noise(few_steps_of_all_rows()),
                                       {.trials = 100, .confidence = 0.99, .canaries = 500});
  int found = 0;
  for (const Finding& finding : report.findings) {
    if (finding.theorem == "one run") found += finding.contradicts() ? 1 : 0;
  }
  EXPECT_EQ(found, 2);
}

// Gradients of such a run are asked in the coordinates of a map that it makes on its way. Fails by chance
// with probability below 1e-9, as above: the gradients are four fifths of the squared privacy loss.
TEST(AuditOfARun, SeesRowsThroughTheRunsOwnMap) {
  Plan plan = few_steps_of_all_rows();
  plan.method = MethodKind::automatic;
  plan.steps.reset();
  const Report report = audit_training(ration::testing::with_a_tenth_of_the_noise(plan),
                                       {.trials = 1000, .confidence = 0.999, .view = View::white_box});
  EXPECT_TRUE(report.contradicts());
}

}  // namespace
}  // namespace ration::audit
