#include "ration/train/fit.h"

#include <gtest/gtest.h>

#include "ration/base/error.h"
#include "ration/data/census.h"
#include "support/doubles.h"

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
