#include "train/label_unit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "ration/train/fit.h"
#include "support/doubles.h"

namespace ration::testing {
namespace {

using ::testing::ElementsAre;

data::Schema schema_of_numbers() {
  return data::parse_schema(R"(
label = "y"
columns = [
  { name = "x", type = "number", low = 0, high = 1 },
  { name = "y", type = "number", low = 100, high = 500 },
]
)");
}

Model model_of(const data::Schema& schema) {
  Plan plan;
  plan.model = "squared";
  return untrained_model(plan, schema);
}

// y = 300 x + 150, on a grid.
data::Table line(const data::Schema& schema, std::size_t rows) {
  std::vector<double> values;
  std::vector<double> labels;
  for (std::size_t i = 0; i < rows; ++i) {
    const double x = static_cast<double>(i % 101) / 100;
    values.insert(values.end(), {x, 1});
    labels.push_back(300 * x + 150);
  }
  return {.rows = Rows::dense(2, std::move(values), std::move(labels)),
          .column_names = data::encoded_column_names(schema),
          .classes = {}};
}

TEST(LabelUnit, ScalesByThePublicBoundsAndBack) {
  const LabelUnit unit(model_of(schema_of_numbers()));
  const Rows rows = unit.scaled(Rows::dense(2, {0, 1, 1, 1}, {100, 300}));
  EXPECT_THAT(std::vector<double>(rows.labels().begin(), rows.labels().end()), ElementsAre(0, 0.5));
  std::vector<double> weights{0.5, 0};  // 0 -> 0, 1 -> 0.5
  unit.restore(weights);
  EXPECT_THAT(weights, ElementsAre(200, 100));
}

// Without a column of ones nothing could give the shift back.
TEST(LabelUnit, WithoutABiasOfOneItDoesNotShift) {
  data::Schema schema = schema_of_numbers();
  schema.max_row_norm = 1;
  std::vector<double> weights{0.5, 0.25};
  LabelUnit(model_of(schema)).restore(weights);
  EXPECT_THAT(weights, ElementsAre(250, 125));
}

TEST(LabelUnit, LeavesClassesAlone) {
  data::Schema schema = data::parse_schema(R"(
label = "y"
columns = [ { name = "x", type = "number", low = 0, high = 1 },
            { name = "y", type = "category", categories = ["a", "b"] } ]
)");
  Plan plan;
  std::vector<double> weights{0.5, 0.25};
  const LabelUnit unit(untrained_model(plan, schema));
  unit.restore(weights);
  EXPECT_THAT(weights, ElementsAre(0.5, 0.25));
  EXPECT_EQ(unit.scaled(Rows::dense(2, {0, 1}, {1})).labels()[0], 1);
}

// The default plan fits labels of any unit.
TEST(LabelUnit, ANumberIsFittedWhateverItsUnit) {
  const data::Schema schema = schema_of_numbers();
  Plan plan;
  plan.model = "squared";
  plan.rows = 20'000;
  plan.epsilon = 1;
  plan.delta = 1e-6;
  const Fitted fitted = fit(plan, schema, line(schema, 20'000));
  EXPECT_LT(*evaluate_public(fitted.model, line(schema, 1000)).root_mean_square_error, 5);
}

}  // namespace
}  // namespace ration::testing
