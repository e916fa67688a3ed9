#include "ration/train/fit.h"

#include <gtest/gtest.h>

#include <sstream>

#include "ration/base/error.h"
#include "ration/data/census.h"
#include "support/doubles.h"
#include "support/small_table.h"

namespace ration::testing {
namespace {

Plan plan_for_census(double rows) {
  Plan plan;
  plan.rows = rows;
  plan.epsilon = 2;
  plan.delta = 1e-6;
  return plan;
}

TEST(Fit, TrainsATableInMemoryAndCertifiesIt) {
  const data::Schema schema = data::census_schema();
  const Fitted fitted = fit(plan_for_census(20'000), schema, data::census_table(20'000, 1));
  EXPECT_GT(*evaluate_public(fitted.model, data::census_table(5'000, 2)).accuracy, 0.82);
  EXPECT_TRUE(verify(fitted.certificate).holds());
  EXPECT_LE(fitted.certificate.epsilon, 2);
  EXPECT_FALSE(fitted.certificate.ledger);
}

class StepCounter final : public Observer {
 public:
  void on_step(const Progress& progress) override {
    ++calls;
    last = progress;
  }
  int calls = 0;
  Progress last;
};

TEST(Fit, AResolvedPlanAndSharedRowsGiveTheSameModel) {
  const data::Schema schema = data::census_schema();
  Plan plan = plan_for_census(2'000);
  plan.method = "dpsgd";
  plan.steps = 20;
  SeededRandom first(1);
  const Fitted whole = fit(plan, schema, data::census_table(2'000, 1), first);
  SeededRandom second(1);
  StepCounter counter;
  const auto rows = std::make_shared<const Rows>(data::census_table(2'000, 1).rows);
  Fitted shared = fit(resolve(plan), schema, rows, second, {.threads = 1, .observers = {&counter}});
  shared.certificate.date = whole.certificate.date;
  EXPECT_EQ(shared.model.weights, whole.model.weights);
  EXPECT_EQ(to_json(shared.certificate), to_json(whole.certificate));
  EXPECT_EQ(counter.calls, 20);
  EXPECT_EQ(counter.last.step.step, 20);
  EXPECT_EQ(counter.last.total, 20);
  EXPECT_NEAR(counter.last.budget_share, 1, 1e-9);
}

// Whoever names no model gets the one for the table's label.
TEST(Fit, AnOpenModelIsThatOfTheTable) {
  data::Schema schema = data::census_schema();
  schema.label = "schooling";
  std::ostringstream rows;
  data::write_census(rows, 2'000, 1);
  const Fitted fitted = fit(plan_for_census(2'000), schema, read_text(rows.str(), schema));
  EXPECT_EQ(fitted.plan.plan.model, "softmax");
  EXPECT_EQ(fitted.model.classes, schema.classes());
  EXPECT_EQ(fitted.certificate.model, "softmax");
}

TEST(Fit, WithoutACertificateItMakesNone) {
  const auto rows = std::make_shared<const Rows>(data::census_table(500, 1).rows);
  SeededRandom random(1);
  const Fitted fitted =
      fit(resolve(plan_for_census(500)), data::census_schema(), rows, random, {.certificate = false});
  EXPECT_TRUE(fitted.certificate.events.empty());
}

TEST(Fit, SharedRowsOfAnotherWidthAreRefused) {
  const auto rows = std::make_shared<const Rows>(Rows::dense(2, {1, 2}, {0}));
  SeededRandom random(1);
  EXPECT_THROW(fit(resolve(plan_for_census(1)), data::census_schema(), rows, random), InputError);
}

// Numeric labels are scaled for training; the shared rows must not be.
TEST(Fit, SharedNumericLabelsStayAsTheyAre) {
  const data::Schema schema = data::parse_schema(
      "label = 'y'\ncolumns = [{ name = 'x', type = 'number', low = 0, high = 1 }, { name = 'y', type = "
      "'number', "
      "low = 0, high = 50 }]\n");
  const auto rows = std::make_shared<const Rows>(Rows::dense(2, {0.5, 1, 0.25, 1}, {40, 10}));
  Plan plan = plan_for_census(2);
  plan.model = "squared";
  plan.method = "dpsgd";
  plan.steps = 2;
  SeededRandom random(1);
  fit(resolve(plan), schema, rows, random);
  EXPECT_EQ(rows->labels()[0], 40);
}

TEST(Fit, SeededNoiseIsStamped) {
  SeededRandom random(1);
  const Fitted fitted = fit(plan_for_census(500), data::census_schema(), data::census_table(500, 1), random);
  EXPECT_FALSE(fitted.certificate.secure_random);
  EXPECT_FALSE(verify(fitted.certificate).holds());
}

TEST(Fit, RefusesLedgersForeignTablesAndOverspending) {
  const data::Schema schema = data::census_schema();
  Plan plan = plan_for_census(500);
  plan.ledger = "budget.db";
  EXPECT_THROW(fit(plan, schema, data::census_table(500, 1)), InputError);
  plan = plan_for_census(500);
  plan.noise = 0.1;
  EXPECT_THROW(fit(plan, schema, data::census_table(500, 1)), BudgetRefused);
  data::Schema other = schema;
  other.bias = false;
  EXPECT_THROW(fit(plan_for_census(500), other, data::census_table(500, 1)), InputError);
}

}  // namespace
}  // namespace ration::testing
