#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "ration/base/error.h"
#include "ration/data/census.h"
#include "ration/train/forecast.h"
#include "support/small_table.h"

namespace ration::testing {
namespace {

using ::testing::HasSubstr;

Plan plan_for(double rows, double epsilon) {
  Plan plan;
  plan.method = MethodKind::automatic;
  plan.rows = rows;
  plan.epsilon = epsilon;
  plan.delta = 1e-6;
  return plan;
}

// Bits are fixed, so nothing is left to chance. What is left of the difference is the fit to fewer rows.
TEST(Forecast, FewRowsWithLessNoiseTellWhatAllRowsWould) {
  for (const double epsilon : {0.2}) {
    const Plan plan = plan_for(12'000, epsilon);
    const Forecast few = forecast(plan, data::census_schema(), {.most_rows = 4000, .repeats = 8});
    const Forecast all = forecast(plan, data::census_schema(), {.most_rows = 12'000, .repeats = 8});
    EXPECT_EQ(few.simulated, 4000u);
    EXPECT_EQ(all.simulated, 12'000u);
    ASSERT_EQ(few.tables.size(), all.tables.size());
    for (std::size_t t = 0; t < all.tables.size(); ++t) {
      EXPECT_NEAR(few.tables[t].without_privacy.accuracy, all.tables[t].without_privacy.accuracy, 0.015);
      for (std::size_t e = 0; e < all.epsilons.size(); ++e)
        EXPECT_NEAR(few.tables[t].with_privacy[e].accuracy, all.tables[t].with_privacy[e].accuracy, 0.025);
    }
  }
}

// Noise that was not made smaller would be told as that of a third of the rows.
TEST(Forecast, MoreBudgetBuysMoreAndNeverMoreThanIsPossible) {
  const Forecast found = forecast(plan_for(12'000, 0.2), data::census_schema(), {.most_rows = 4000});
  EXPECT_EQ(found.epsilons, (std::vector<double>{0.1, 0.2, 0.4}));
  for (const ForecastTable& table : found.tables) {
    EXPECT_LT(table.without_privacy.accuracy, table.possible + 0.02);
    EXPECT_GT(table.without_privacy.accuracy, table.possible - 0.03);
    EXPECT_GT(table.with_privacy[2].accuracy, table.with_privacy[0].accuracy - 0.01);
    EXPECT_GT(table.with_privacy[0].accuracy, table.largest - 0.03);
    EXPECT_GT(*table.with_privacy[2].auc, 0.5);
  }
}

TEST(Forecast, SaysWhatIsMissing) {
  const auto message = [](Plan plan, const data::Schema& schema) {
    return refusal([&] { forecast(plan, schema); });
  };
  Plan without_rows = plan_for(1000, 1);
  without_rows.rows.reset();
  EXPECT_THAT(message(without_rows, data::census_schema()), HasSubstr("--rows N"));
  Plan dpsgd = plan_for(1000, 1);
  dpsgd.method = MethodKind::dpsgd;
  EXPECT_THAT(message(dpsgd, data::census_schema()), HasSubstr("method auto"));
}

}  // namespace
}  // namespace ration::testing
