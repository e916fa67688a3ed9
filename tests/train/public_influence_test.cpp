#include "train/public_influence.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "ration/data/census.h"
#include "support/doubles.h"
#include "support/small_table.h"

namespace ration::testing {
namespace {

using ::testing::HasSubstr;

const std::string kSchema = R"(
label = "y"
columns = [
  { name = "a", type = "number", low = 0, high = 1 },
  { name = "b", type = "number", low = 0, high = 1 },
  { name = "c", type = "number", low = 0, high = 1 },
  { name = "y", type = "number", low = 0, high = 1 },
]
)";

data::Schema schema() {
  return data::parse_schema(kSchema, "s.toml");
}

data::Table table() {
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> uniform;
  std::string text = "a,b,c,y\n";
  for (int i = 0; i < 60; ++i) {
    const double a = uniform(random);
    const double b = uniform(random);
    text += fmt::format("{},{},{},{}\n", a, b, uniform(random), (a + b) / 2);
  }
  return read_text(text, schema());
}

// Nothing is clipped, so that the loss is quadratic.
Plan quadratic_plan(double momentum) {
  Plan plan;
  plan.method = "dpsgd";
  plan.model = "squared";
  plan.clip_bound = 100;
  plan.step = momentum > 0 ? "momentum" : "sgd";
  plan.momentum = momentum;
  plan.lr = 0.5;
  plan.average = "none";
  plan.rows = 1e5;
  plan.steps = 10;
  plan.epsilon = 1;
  plan.delta = 1e-6;
  return plan;
}

TEST(PublicInfluence, RetrainingAgreesWithTheHessian) {
  for (const double momentum : {0.0, 0.9}) {
    const ResolvedPlan plan = resolve(quadratic_plan(momentum));
    SeededRandom random(2);
    const std::vector<double> exact = influence_by_hessian(plan, schema(), table(), random);
    // Each estimate is a mean over 400 runs of a sum of four squares: a deviation of at most 7 %, and the
    // seed is fixed.
    const std::vector<double> found =
        influence_on_public_rows(plan, schema(), table(), random, {.runs = 400});
    ASSERT_EQ(found.size(), exact.size());
    for (std::size_t t = 0; t < exact.size(); ++t)
      EXPECT_NEAR(found[t] / exact[t], 1, 0.25) << momentum << " " << t;
  }
}

// What the noise is worth depends on the private rows, not on how many public ones there are; and on the
// relation.
TEST(PublicInfluence, GrowsWithThePrivateNoise) {
  SeededRandom random(1);
  const auto in_step_7 = [&](const Plan& plan) {
    return influence_by_hessian(resolve(plan), schema(), table(), random)[7];
  };
  const double base = in_step_7(quadratic_plan(0));
  Plan plan = quadratic_plan(0);
  plan.rows = 5e4;
  EXPECT_NEAR(in_step_7(plan) / base, 4, 1e-9);
  plan = quadratic_plan(0);
  plan.relation = "replace_one";
  EXPECT_NEAR(in_step_7(plan) / base, 4, 1e-9);
  plan = quadratic_plan(0);
  plan.rate = 0.1;
  EXPECT_NEAR(in_step_7(plan) / base, 100, 1e-6);
}

TEST(PublicInfluence, WorksForClassesAndAverages) {
  Plan plan;
  plan.method = "dpsgd";
  plan.rows = 30'000;
  plan.step = "sgd";  // momentum alone would make the last step's noise small
  plan.lr = 0.5;
  plan.steps = 12;
  plan.epsilon = 1;
  plan.delta = 1e-6;
  SeededRandom random(3);
  const std::vector<double> found = influence_on_public_rows(
      resolve(plan), data::census_schema(), data::census_table(300, 1), random, {.runs = 20});
  ASSERT_EQ(found.size(), 12u);
  // Half of the iterates are averaged: the last step's noise is in one of six of them.
  EXPECT_LT(found.back(), found[4] / 4);
}

// The rows that a plan centres are centred here too: without that, ten times as far from zero, the first
// direction would be far steeper and the last steps would count for far more.
TEST(PublicInfluence, IsThatOfTheRowsAsTheRunSeesThem) {
  Plan plan = quadratic_plan(0);
  plan.center = "yes";
  plan.lr = 0.1;
  SeededRandom random(1);
  const std::vector<double> centred = influence_by_hessian(resolve(plan), schema(), table(), random);
  EXPECT_NEAR(
      influence_on_public_rows(resolve(plan), schema(), table(), random, {.runs = 400})[2] / centred[2], 1,
      0.25);
  // The bias is 1 for every row; the others vary by 1 / 12 about a mean of 0.
  const std::vector<double> by_hand =
      influence_on_quadratic(std::vector<double>{1.0 / 12, 1.0 / 12, 1.0 / 12, 1}, 10,
                             {.learning_rate = 0.1, .momentum = 0, .noise_unit = 100 / *plan.rows});
  for (std::size_t t = 0; t < 10; ++t) EXPECT_NEAR(centred[t] / by_hand[t], 1, 0.1) << t;
  plan.center = "no";
  EXPECT_GT(std::abs(influence_by_hessian(resolve(plan), schema(), table(), random)[0] / by_hand[0] - 1),
            0.2);
}

TEST(PublicInfluence, EigenvaluesOfSparseAndDenseRowsAgree) {
  SparseMatrix matrix{
      .columns = 3, .starts = {0, 2, 3, 5}, .indices = {0, 2, 1, 0, 1}, .values = {1, 2, 3, -1, 4}};
  const std::vector<double> dense_values = {1, 0, 2, 0, 3, 0, -1, 4, 0};
  const std::vector<double> sparse = hessian_eigenvalues(Rows::sparse(matrix, {0, 0, 0}));
  const std::vector<double> dense = hessian_eigenvalues(Rows::dense(3, dense_values, {0, 0, 0}));
  double trace = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(sparse[i], dense[i], 1e-12);
    trace += dense[i];
  }
  EXPECT_NEAR(trace, (1 + 4 + 9 + 1 + 16) / 3.0, 1e-12);
  EXPECT_GE(dense[0], 0);
}

TEST(PublicInfluence, RefusesWhatItDoesNotCover) {
  SeededRandom random(1);
  const auto retraining = [&](auto change, std::int64_t runs = 1) {
    Plan plan = quadratic_plan(0);
    change(plan);
    return refusal(
        [&] { influence_on_public_rows(resolve(plan), schema(), table(), random, {.runs = runs}); });
  };
  EXPECT_THAT(retraining([](Plan& plan) { plan.clip = "adaptive"; }),
              HasSubstr("clip adaptive is not covered"));
  EXPECT_THAT(retraining([](Plan& plan) { plan.rows.reset(); }), HasSubstr("rows is needed"));
  EXPECT_THAT(retraining([](Plan&) {}, 0), HasSubstr("runs >= 1"));
  EXPECT_THAT(retraining([](Plan& plan) { plan.lr = 1e200; }), HasSubstr("influence: the final loss is"));
  const auto hessian = [&](auto change) {
    Plan plan = quadratic_plan(0);
    change(plan);
    return refusal([&] { influence_by_hessian(resolve(plan), schema(), table(), random); });
  };
  EXPECT_THAT(hessian([](Plan& plan) { plan.model = "logistic"; }),
              HasSubstr("expected model squared, got logistic"));
  EXPECT_THAT(hessian([](Plan& plan) { plan.step = "adam"; }),
              HasSubstr("expected step sgd or momentum, got adam"));
  EXPECT_THAT(hessian([](Plan& plan) { plan.average = "half"; }),
              HasSubstr("expected average none, got half"));
  EXPECT_THAT(hessian([](Plan& plan) { plan.lr_shape = "cosine"; }), HasSubstr("lr_shape constant"));
  EXPECT_THAT(hessian([](Plan& plan) { plan.weight_decay = 0.1; }), HasSubstr("weight_decay 0"));
  EXPECT_THAT(hessian([](Plan& plan) { plan.warm_up = 5; }), HasSubstr("warm_up 0"));
}

}  // namespace
}  // namespace ration::testing
