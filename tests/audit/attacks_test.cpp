// What the attackers see, and what they make of it.
#include "audit/attacks.h"

#include <gtest/gtest.h>

#include <cmath>

#include "audit/audit.h"
#include "ration/base/error.h"
#include "ration/train/fit.h"
#include "support/doubles.h"

namespace ration::audit {
namespace {

using ration::testing::SeededRandom;

Plan one_step() {
  Plan plan;
  plan.model = "logistic";
  plan.method = "dpsgd";
  plan.epsilon = 1;
  plan.delta = 1e-5;
  plan.steps = 1;
  return plan;
}

TEST(Canaries, DifferInOneRowAndPullAtTheirOwnWeights) {
  const CanaryTable table(one_step(), Relation::add_remove, 3, 0);
  EXPECT_EQ(table.rows({true, false, true})->count(), 2u);
  EXPECT_EQ(table.rows({false, false, false})->count(), 0u);
  const std::size_t each = table.schema().indexed_features->count / 3;
  table.canaries()[1].row->for_each_entry(
      0, [&](std::size_t column, double value) { EXPECT_EQ(value != 0, column / each == 1) << column; });
}

TEST(Canaries, UnderReplaceOneHaveATwinAndTheNumberOfRowsStays) {
  const CanaryTable table(one_step(), Relation::replace_one, 2, 5);
  EXPECT_EQ(table.rows({true, false})->count(), 7u);
  EXPECT_EQ(table.rows({false, false})->count(), 7u);
  EXPECT_EQ(table.canaries()[0].row->labels()[0], 1);
  EXPECT_EQ(table.canaries()[0].twin->labels()[0], 0);
}

TEST(Neighbours, InAFileDifferInOneRow) {
  data::Schema schema = worst_case_subject(one_step()).neighbours.schema;
  schema.indexed_features->count = 2;
  const Rows rows = Rows::dense(2, {0, 1, 1, 1, 1, 0}, {1, 0, 1});
  const Neighbours added = neighbours_in(schema, rows, Relation::add_remove);
  EXPECT_EQ(added.with->count(), 4u);
  EXPECT_EQ(added.without->count(), 3u);
  EXPECT_EQ(added.common->count(), 3u);
  EXPECT_EQ(added.canary.row->labels()[0], 1);  // that of the longest row, turned round
  const Neighbours replaced = neighbours_in(schema, rows, Relation::replace_one);
  EXPECT_EQ(replaced.with->count(), 3u);
  EXPECT_EQ(replaced.without->count(), 3u);
  EXPECT_EQ(replaced.common->count(), 2u);
  EXPECT_EQ(replaced.canary.twin->labels()[0], 0);
}

// With one gradient of all rows the score is the log-likelihood ratio of two normal distributions: normal
// itself, +-mu^2 / 2 on average, with variance mu^2. Fails by chance with probability below 1e-6 (five
// standard deviations of each mean).
TEST(WhiteBox, ScoresAreLikelihoodRatios) {
  const Subject subject = worst_case_subject(one_step());
  const double mu = 1 / subject.plan.noise_multiplier;
  const Model model = untrained_model(subject.plan.plan, subject.neighbours.schema);
  WhiteBox attacker(subject.plan, model, {&subject.neighbours.canary, 1}, nullptr);
  SeededRandom random(1);
  constexpr int kRuns = 4000;
  for (const bool with : {true, false}) {
    double mean = 0;
    for (int i = 0; i < kRuns; ++i) {
      attacker.begin();
      fit(subject.plan, subject.neighbours.schema,
          with ? subject.neighbours.with : subject.neighbours.without, random,
          {.threads = 1, .certificate = false, .releases = &attacker});
      EXPECT_TRUE(attacker.saw_any());
      mean += attacker.scores()[0] / kRuns;
    }
    EXPECT_NEAR(mean, with ? mu * mu / 2 : -mu * mu / 2, 5 * mu / std::sqrt(kRuns)) << with;
  }
}

TEST(Subjects, KeepThePlanAndClaimWhatItCosts) {
  const Subject subject = worst_case_subject(one_step());
  EXPECT_NEAR(subject.claim.epsilon, 1, 1e-3);
  EXPECT_EQ(subject.claim.delta, 1e-5);
  EXPECT_TRUE(subject.claim.is_gaussian);
  Plan sampled = one_step();
  sampled.rate = 0.5;
  EXPECT_FALSE(worst_case_subject(sampled).claim.is_gaussian);
}

TEST(Subjects, WithoutAPromiseOrATableAreRefused) {
  Plan plan = one_step();
  plan.steps.reset();
  plan.method = MethodKind::nonprivate;
  EXPECT_THROW(worst_case_subject(plan), InputError);
  Plan images = one_step();
  images.model = "scatter+softmax";
  EXPECT_THROW(worst_case_subject(images), InputError);
}

TEST(AuditOptions, AreChecked) {
  const Subject subject = worst_case_subject(one_step());
  EXPECT_THROW(audit_training(subject, {.trials = 10}), InputError);
  EXPECT_THROW(audit_training(subject, {.confidence = 1}), InputError);
}

TEST(AnAudit, CanBeStopped) {
  const Subject subject = worst_case_subject(one_step());
  EXPECT_THROW(audit_training(
                   subject, {.trials = 1000, .on_progress = [](std::size_t, std::size_t) { return false; }}),
               Stopped);
}

}  // namespace
}  // namespace ration::audit
