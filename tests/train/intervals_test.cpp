#include "ration/train/intervals.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "ration/base/error.h"
#include "support/small_table.h"

namespace ration::testing {
namespace {

using ::testing::HasSubstr;

// Encoded: age, work=field, work=shop, work=(missing), (bias).
Model noisy_model() {
  Model model;
  model.schema = small_schema();
  model.weights = {2, 1, -1, 0, 0.5};
  WeightNoise noise{.centre = {2.2, 1, -1, 0, 0.5}, .directions = 2, .factor = {}, .covariance = {0.25, 4}};
  noise.factor = {1, 0, 0, 0, 0,   // age alone
                  0, 1, 1, 1, 0};  // all of work alike: what the bias would take up
  model.noise = noise;
  return model;
}

const Coefficient& named(const std::vector<Coefficient>& all, const std::string& column,
                         const std::string& category = "") {
  for (const Coefficient& one : all) {
    if (one.column == column && one.category == category) return one;
  }
  throw InputError("no such coefficient");
}

TEST(IntervalsOfModels, AreAsWideAsTheNoiseAndHoldTheModelsOwnNumber) {
  const auto all = coefficients(noisy_model());
  const Coefficient& age = named(all, "age");
  EXPECT_EQ(age.value, 2);
  EXPECT_NEAR(*age.low, 2.2 - 1.959964 * 0.5, 1e-6);
  EXPECT_NEAR(*age.high, 2.2 + 1.959964 * 0.5, 1e-6);
  EXPECT_NEAR(*named(coefficients(noisy_model(), 0.5), "age").high, 2.2 + 0.6744898 * 0.5, 1e-6);
  Model shrunk = noisy_model();
  shrunk.weights[0] = 0.1;
  EXPECT_EQ(*named(coefficients(shrunk), "age").low, 0.1);
}

TEST(IntervalsOfModels, NoiseThatMovesAllCategoriesAlikeIsTheBias) {
  const auto all = coefficients(noisy_model());
  const Coefficient& field = named(all, "work", "field");
  EXPECT_NEAR(*field.high - *field.low, 0, 1e-12);
  const Coefficient& bias = named(all, "(bias)");
  EXPECT_NEAR(*bias.high - *bias.low, 2 * 1.959964 * 2, 1e-5);
  EXPECT_EQ(all.back().column, "(bias)");
  EXPECT_EQ(all.front().column, "age");  // the largest
}

TEST(IntervalsOfModels, WithoutKnownNoiseThereAreNone) {
  Model model = noisy_model();
  model.noise.reset();
  for (const Coefficient& one : coefficients(model)) EXPECT_FALSE(one.low || one.high);
}

TEST(IntervalsOfModels, OfAProbabilityLieAroundIt) {
  const Model model = noisy_model();
  data::Table table{.rows = Rows::dense(5, {0.5, 0, 1, 0, 1}, {0}),
                    .column_names = data::encoded_column_names(model.schema),
                    .classes = model.schema.class_names()};
  const auto intervals = predict_with_intervals(model, table);
  ASSERT_EQ(intervals.size(), 1u);
  const auto sigmoid = [](double z) { return 1 / (1 + std::exp(-z)); };
  const double stddev = std::sqrt(0.25 * 0.25 + 4);  // half an age, and a category
  EXPECT_EQ(intervals[0].prediction, 1);
  EXPECT_NEAR(intervals[0].probability, sigmoid(0.5), 1e-12);
  EXPECT_NEAR(intervals[0].low, sigmoid(0.6 - 1.959964 * stddev), 1e-6);
  EXPECT_NEAR(intervals[0].high, sigmoid(0.6 + 1.959964 * stddev), 1e-6);
}

TEST(IntervalsOfModels, AreRefusedWhereThereAreNone) {
  Model model = noisy_model();
  const data::Table table{.rows = Rows::dense(5, {0.5, 0, 1, 0, 1}, {0}),
                          .column_names = data::encoded_column_names(model.schema),
                          .classes = {}};
  const auto message = [&](const Model& of, double level) -> std::string {
    try {
      predict_with_intervals(of, table, level);
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(message(model, 1), HasSubstr("0 < level < 1"));
  Model hinge = model;
  hinge.loss = GlmLoss::hinge;
  EXPECT_THAT(message(hinge, 0.9), HasSubstr("has no probabilities"));
  model.noise.reset();
  EXPECT_THAT(message(model, 0.9), HasSubstr("method auto"));
}

TEST(IntervalsOfModels, NoiseIsWrittenAndReadBack) {
  const Model model = noisy_model();
  const Model read = model_from_json(to_json(model), "model.json");
  EXPECT_EQ(read.noise->centre, model.noise->centre);
  EXPECT_EQ(read.noise->factor, model.noise->factor);
  EXPECT_EQ(read.noise->covariance, model.noise->covariance);
  for (const auto& spoil : std::vector<std::function<void(WeightNoise&)>>{
           [](WeightNoise& noise) { noise.centre.pop_back(); },
           [](WeightNoise& noise) { noise.factor.pop_back(); },
           [](WeightNoise& noise) { noise.covariance.push_back(1); },
           [](WeightNoise& noise) { noise.covariance[0] = std::nan(""); },
           [](WeightNoise& noise) { noise.directions = 0; }}) {
    Model wrong = model;
    spoil(*wrong.noise);
    EXPECT_THROW(to_json(wrong), InputError);
  }
}

}  // namespace
}  // namespace ration::testing
