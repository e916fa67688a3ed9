#include "train/row_transform.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ration/data/census.h"
#include "ration/train/fit.h"
#include "support/doubles.h"
#include "support/small_table.h"

namespace ration::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

data::Schema schema_of_numbers() {
  return data::parse_schema(R"(
label = "y"
columns = [
  { name = "x", type = "number", low = 0, high = 1 },
  { name = "y", type = "number", low = 100, high = 500 },
]
)");
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

std::vector<double> undone(const RowStage& stage, std::vector<double> weights) {
  stage.undo(weights);
  return weights;
}

// --- the unit of the label

TEST(LabelUnit, ScalesByThePublicBoundsAndBack) {
  const auto unit = label_unit_stage(schema_of_numbers());
  const Rows rows = unit->apply(Rows::dense(2, {0, 1, 1, 1}, {100, 300}));
  EXPECT_THAT(rows.labels(), ElementsAre(0, 0.5));
  EXPECT_THAT(undone(*unit, {0.5, 0}), ElementsAre(200, 100));  // 0 -> 0, 1 -> 0.5
}

// Without a column of ones nothing could give the shift back.
TEST(LabelUnit, WithoutABiasOfOneItDoesNotShift) {
  data::Schema schema = schema_of_numbers();
  schema.max_row_norm = 1;
  EXPECT_THAT(undone(*label_unit_stage(schema), {0.5, 0.25}), ElementsAre(250, 125));
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

// --- the mean

Plan centred_plan() {
  Plan plan;
  plan.method = "dpsgd";
  plan.rows = 2000;
  plan.epsilon = 2;
  plan.delta = 1e-6;
  plan.steps = 20;
  plan.center = "yes";
  return plan;
}

TEST(Centre, TheBiasStaysAndTheRestIsMoved) {
  const Rows rows = centring_stage({3, 4, 0.9})->apply(Rows::dense(3, {1, 2, 1, 5, 6, 1}, {0, 1}));
  EXPECT_EQ(plain_row(rows, 0), (std::vector<double>{-2, -2, 1}));
  EXPECT_EQ(plain_row(rows, 1), (std::vector<double>{2, 2, 1}));
  EXPECT_DOUBLE_EQ(rows.norms()[1], 3);
}

TEST(Centre, SparseRowsBecomeDense) {
  const Rows rows = centring_stage({0.5, 1})->apply(
      Rows::sparse({.columns = 2, .starts = {0, 1, 2}, .indices = {1, 1}, .values = {1, 1}}, {0, 1}));
  ASSERT_TRUE(rows.is_dense());
  EXPECT_EQ(plain_row(rows, 0), (std::vector<double>{-0.5, 1}));
}

// Two outputs of three columns: what is said of a centred row is said of the row.
TEST(Centre, WeightsForPlainRowsSayTheSame) {
  const std::vector<double> mean{0.5, -2, 0.9}, x{3, 7, 1};
  const std::vector<double> weights{1, 2, 3, -4, 5, 6};
  const std::vector<double> plain = undone(*centring_stage(mean), weights);
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

// --- all of them

Model model_of(const data::Schema& schema, const std::string& loss) {
  Plan plan;
  plan.model = loss;
  return untrained_model(plan, schema);
}

TEST(RowTransform, LeavesRowsThatNeedNothingWhereTheyAre) {
  const auto rows = std::make_shared<const Rows>(data::census_table(10, 1).rows);
  RowTransform transform(rows);
  transform.add_stages_of(model_of(data::census_schema(), "logistic"));
  EXPECT_EQ(transform.share_rows(), rows);
  std::vector<double> weights(rows->columns(), 0.5);
  transform.undo(weights);
  EXPECT_EQ(weights, std::vector<double>(rows->columns(), 0.5));
}

TEST(RowTransform, ChangesItsOwnRowsInPlaceAndSharedOnesNever) {
  const auto rows = std::make_shared<const Rows>(Rows::dense(2, {3, 1, 5, 1}, {0, 1}));
  RowTransform of_shared(rows);
  of_shared.add(centring_stage({4, 1}));
  EXPECT_EQ(plain_row(*rows, 0), (std::vector<double>{3, 1}));
  EXPECT_EQ(plain_row(of_shared.rows(), 0), (std::vector<double>{-1, 1}));

  Rows own = *rows;
  const double* const where = own.dense_row(0).data();
  RowTransform of_own(std::move(own));
  of_own.add(centring_stage({4, 1}));
  EXPECT_EQ(of_own.rows().dense_row(0).data(), where);
  const auto handed_out = of_own.share_rows();
  of_own.add(centring_stage({10, 1}));
  EXPECT_EQ(plain_row(*handed_out, 0), (std::vector<double>{-1, 1}));
  EXPECT_EQ(plain_row(of_own.rows(), 0), (std::vector<double>{-11, 1}));
}

TEST(RowTransform, ShortensRowsOnceAndOnlyIfNobodyDid) {
  data::Schema schema = data::census_schema();
  schema.max_row_norm = 0.5;
  const auto rows = std::make_shared<const Rows>(data::census_table(10, 1).rows);
  RowTransform transform(rows);
  transform.add_stages_of(model_of(schema, "logistic"));
  const auto bounded = transform.share_rows();
  EXPECT_EQ(bounded->norm_bound(), 0.5);
  RowTransform again(bounded);
  again.add_stages_of(model_of(schema, "logistic"));
  EXPECT_EQ(again.share_rows(), bounded);
}

// A label in units and rows less their mean: the last stage is undone first.
TEST(RowTransform, IsUndoneInTheOppositeOrder) {
  const data::Schema schema = schema_of_numbers();
  RowTransform transform(Rows::dense(2, {0.25, 1, 0.75, 1}, {200, 400}));
  transform.add_stages_of(model_of(schema, "squared"));
  transform.add(centring_stage({0.5, 1}));
  EXPECT_THAT(transform.rows().labels(), ElementsAre(0.25, 0.75));
  EXPECT_THAT(transform.rows().dense_row(1), ElementsAre(0.25, 1));
  std::vector<double> weights{1, 0.5};  // exact on both rows
  transform.undo(weights);
  EXPECT_THAT(weights, ElementsAre(400, 100));
}

}  // namespace
}  // namespace ration::testing
