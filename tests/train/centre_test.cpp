#include "train/centre.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ration/data/census.h"
#include "ration/train/fit.h"
#include "support/doubles.h"
#include "support/small_table.h"

namespace ration::testing {
namespace {

using ::testing::HasSubstr;

Plan centred_plan() {
  Plan plan;
  plan.rows = 2000;
  plan.epsilon = 2;
  plan.delta = 1e-6;
  plan.steps = 20;
  plan.center = "yes";
  return plan;
}

TEST(Centre, TheBiasStaysAndTheRestIsMoved) {
  const Rows rows = centred(Rows::dense(3, {1, 2, 1, 5, 6, 1}, {0, 1}), std::vector<double>{3, 4, 0.9});
  EXPECT_EQ(plain_row(rows, 0), (std::vector<double>{-2, -2, 1}));
  EXPECT_EQ(plain_row(rows, 1), (std::vector<double>{2, 2, 1}));
  EXPECT_DOUBLE_EQ(rows.norms()[1], 3);
}

TEST(Centre, SparseRowsBecomeDense) {
  const Rows rows =
      centred(Rows::sparse({.columns = 2, .starts = {0, 1, 2}, .indices = {1, 1}, .values = {1, 1}}, {0, 1}),
              std::vector<double>{0.5, 1});
  ASSERT_TRUE(rows.is_dense());
  EXPECT_EQ(plain_row(rows, 0), (std::vector<double>{-0.5, 1}));
}

// Two outputs of three columns: what is said of a centred row is said of the row.
TEST(Centre, WeightsForPlainRowsSayTheSame) {
  const std::vector<double> mean{0.5, -2, 0.9}, x{3, 7, 1};
  const std::vector<double> weights{1, 2, 3, -4, 5, 6};
  std::vector<double> plain = weights;
  for_plain_rows(mean, plain);
  for (std::size_t k = 0; k < 2; ++k) {
    const double* const w = weights.data() + 3 * k;
    const double* const v = plain.data() + 3 * k;
    EXPECT_DOUBLE_EQ(v[0] * x[0] + v[1] * x[1] + v[2],
                     w[0] * (x[0] - mean[0]) + w[1] * (x[1] - mean[1]) + w[2]);
  }
}

TEST(Centre, TheMeanIsPartOfThePlanAndOfItsCost) {
  const ResolvedPlan plan = resolve(centred_plan());
  ASSERT_TRUE(plan.mean_noise);
  EXPECT_THAT(plan.event().describe(), HasSubstr(Event::gaussian(*plan.mean_noise).describe()));
  EXPECT_LE(plan.cost.epsilon, 2);
  Plan without = centred_plan();
  without.center = "auto";
  EXPECT_FALSE(resolve(without).mean_noise);
  EXPECT_GT(plan.noise_multiplier, resolve(without).noise_multiplier);
  EXPECT_LT(plan.noise_multiplier, 1.02 * resolve(without).noise_multiplier);
}

TEST(Centre, AFitIsCertifiedAndAsGood) {
  const Fitted fitted = fit(centred_plan(), data::census_schema(), data::census_table(2000, 1));
  EXPECT_TRUE(verify(fitted.certificate).holds());
  EXPECT_LE(fitted.certificate.epsilon, 2);
  std::int64_t events = 0;
  for (const CountedEvent& one : fitted.certificate.events) events += one.count;
  EXPECT_EQ(events, 21);
  EXPECT_GT(*evaluate_public(fitted.model, data::census_table(2000, 2)).accuracy, 0.78);
}

TEST(Centre, ACountThatIsAskedComesFirst) {
  Plan plan = centred_plan();
  plan.rows.reset();
  const ResolvedPlan resolved = resolve(plan);
  TrainingState state;
  SeededRandom random(1);
  ask_for_mean(resolved, data::census_table(2000, 1).rows, state, random);
  ASSERT_TRUE(state.noisy_rows);
  ASSERT_TRUE(state.row_mean);
  EXPECT_NEAR(state.row_mean->back(), 1, 0.2);  // the bias, and so rows over rows counted
  const TrainingState before = state;
  ask_for_mean(resolved, data::census_table(2000, 1).rows, state, random);  // once in a run's life
  EXPECT_EQ(state.row_mean, before.row_mean);
}

TEST(Centre, MethodsThatChooseAsTheyGoHaveItToo) {
  Plan plan = centred_plan();
  plan.method = "blsgd";
  plan.steps.reset();
  const Fitted fitted = fit(plan, data::census_schema(), data::census_table(2000, 1));
  EXPECT_TRUE(verify(fitted.certificate).holds());
}

TEST(Centre, WhatItCannotDoIsRefused) {
  Plan plan = centred_plan();
  plan.row_norm = 1;
  EXPECT_THAT(refusal([&] { resolve(plan); }), HasSubstr("row_norm = 1 do not go together"));
  data::Schema schema = data::census_schema();
  schema.bias = false;
  EXPECT_THAT(refusal([&] { fitted_to(centred_plan(), schema); }), HasSubstr("center needs a bias column"));
}

}  // namespace
}  // namespace ration::testing
