#include "train/hats.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ration/data/census.h"
#include "ration/data/table.h"
#include "ration/train/fit.h"
#include "support/doubles.h"
#include "support/small_table.h"
#include "train/signal.h"

namespace ration::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

data::Schema schema() {
  return data::parse_schema(R"(
label = "y"
columns = [
  { name = "age", type = "number", low = 0, high = 100 },
  { name = "share", type = "number", low = 0, high = 1 },
  { name = "hours", type = "number", low = 1, high = 99, cuts = [35, 41] },
  { name = "kind", type = "category", categories = ["a", "b"] },
  { name = "y", type = "category", categories = ["no", "yes"] },
]
)");
}

Plan auto_plan(double rows, double epsilon) {
  Plan plan;
  plan.method = "auto";
  plan.rows = rows;
  plan.epsilon = epsilon;
  plan.delta = 1e-6;
  return plan;
}

std::size_t knots_of_age(const Plan& plan) {
  return with_hats(plan, schema()).columns[0].knots.size();
}

TEST(Hats, AreAsManyAsRowsAndBudgetCarry) {
  const double per_row = mu_of({1, 1e-6});
  EXPECT_EQ(knots_of_age(auto_plan(std::ceil(8 / 0.11 / per_row), 1)), 8u);
  EXPECT_EQ(knots_of_age(auto_plan(std::floor(7.9 / 0.11 / per_row), 1)), 4u);
  EXPECT_EQ(knots_of_age(auto_plan(std::floor(3.9 / 0.11 / per_row), 1)), 0u);
}

TEST(Hats, AreForNumbersThatMayBend) {
  const data::Schema with = with_hats(auto_plan(1e6, 1), schema());
  EXPECT_EQ(with.columns[0].knots.size(), 8u);
  for (std::size_t i = 1; i < with.columns.size(); ++i) EXPECT_THAT(with.columns[i].knots, IsEmpty()) << i;
}

TEST(Hats, KnotsOfTheSchemaStay) {
  data::Schema own = schema();
  own.columns[0].knots = {50};
  EXPECT_EQ(with_hats(auto_plan(1e6, 1), own).columns[0].knots, std::vector{50.0});
}

TEST(Hats, AreLeftOutWhereNobodyKnowsWhetherTheyPay) {
  Plan undeclared = auto_plan(1e6, 1);
  undeclared.rows.reset();
  EXPECT_EQ(knots_of_age(undeclared), 0u);
  Plan other = auto_plan(1e6, 1);
  other.method = "dpsgd";
  EXPECT_EQ(knots_of_age(other), 0u);
  data::Schema short_rows = schema();
  short_rows.max_row_norm = 1;
  EXPECT_THAT(with_hats(auto_plan(1e6, 1), short_rows).columns[0].knots, IsEmpty());
}

TEST(Hats, CanBeAskedForAndRefused) {
  Plan few = auto_plan(200, 1);
  few.features = "hats";
  EXPECT_EQ(knots_of_age(few), 4u);
  few.method = "dpsgd";
  EXPECT_EQ(knots_of_age(few), 4u);
  Plan many = auto_plan(1e6, 1);
  many.features = "linear";
  EXPECT_EQ(knots_of_age(many), 0u);
}

TEST(Hats, AreNotForNetworks) {
  Plan plan = auto_plan(1e4, 1);
  plan.model = "scatter+softmax";
  plan.features = "hats";
  EXPECT_THAT(refusal([&] { resolve(plan); }), HasSubstr("features"));
}

// Yes above 70 and below 30: nothing for a straight line.
data::Table bent(const data::Schema& schema, std::size_t rows) {
  std::string csv;
  std::vector<double> values, labels;
  for (std::size_t i = 0; i < rows; ++i) {
    const double age = static_cast<double>(i * 37 % 101) / 100;
    values.insert(values.end(), {age, 1});
    labels.push_back(age > 0.7 || age < 0.3 ? 1 : 0);
  }
  return {.rows = Rows::dense(2, std::move(values), std::move(labels)),
          .column_names = data::encoded_column_names(schema),
          .classes = {"no", "yes"}};
}

TEST(Hats, LetALinearModelBend) {
  const data::Schema one_number = data::parse_schema(R"(
label = "y"
columns = [
  { name = "age", type = "number", low = 0, high = 100 },
  { name = "y", type = "category", categories = ["no", "yes"] },
]
)");
  const auto accuracy = [&](const char* features) {
    Plan plan = auto_plan(20'000, 2);
    plan.features = features;
    SeededRandom random(1);
    const Fitted fitted = fit(plan, one_number, bent(one_number, 20'000), random);
    return *evaluate_public(fitted.model, bent(one_number, 2'000)).accuracy;
  };
  EXPECT_GT(accuracy("auto"), 0.95);
  EXPECT_LT(accuracy("linear"), 0.65);
}

}  // namespace
}  // namespace ration::testing
