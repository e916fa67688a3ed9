#include "ration/train/model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>

#include "ration/data/census.h"
#include "support/child_process.h"
#include "support/small_table.h"

namespace ration::testing {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::string kThreeClasses = R"(
label = "kind"
columns = [
  { name = "x", type = "number", low = 0, high = 1 },
  { name = "kind", type = "category", categories = ["a", "b", "c"] },
]
)";

const std::string kNumericLabel = R"(
label = "price"
columns = [
  { name = "x", type = "number", low = 0, high = 1 },
  { name = "price", type = "number", low = 0, high = 100 },
]
)";

// Encoded: age, work=field, work=shop, work=(missing), (bias).
Model small_model() {
  Model model;
  model.schema = small_schema();
  model.weights = {0.1, -1.0 / 3, 5e-324, -0.0, 1.7976931348623157e308};
  return model;
}

Model softmax_model() {
  Model model;
  model.loss = GlmLoss::softmax;
  model.classes = 3;
  model.schema = data::parse_schema(kThreeClasses);
  model.weights = {-4, 1, 0, 0.5, 4, -2};  // z_a = 1 - 4x, z_b = 0.5, z_c = 4x - 2
  return model;
}

Model price_model() {
  Model model;
  model.loss = GlmLoss::squared;
  model.classes = 0;
  model.schema = data::parse_schema(kNumericLabel);
  model.weights = {10, 20};
  return model;
}

void expect_same(const Model& model, const Model& other) {
  EXPECT_EQ(model.loss, other.loss);
  EXPECT_EQ(model.classes, other.classes);
  EXPECT_EQ(model.huber_width, other.huber_width);
  EXPECT_EQ(data::to_toml(model.schema), data::to_toml(other.schema));
  ASSERT_EQ(model.weights.size(), other.weights.size());
  for (std::size_t i = 0; i < model.weights.size(); ++i) {
    EXPECT_EQ(model.weights[i], other.weights[i]) << i;
    EXPECT_EQ(std::signbit(model.weights[i]), std::signbit(other.weights[i])) << i;
  }
}

TEST(Model, JsonIsLossless) {
  Model huber = small_model();
  huber.loss = GlmLoss::huber;
  huber.huber_width = 0.1;
  Model census;
  census.schema = data::census_schema();
  census.weights.assign(data::encoded_column_names(census.schema).size(), 1e-3);
  for (const Model& model : {small_model(), huber, softmax_model(), price_model(), census}) {
    const std::string text = to_json(model);
    const Model back = model_from_json(text, "model.json");
    expect_same(model, back);
    EXPECT_EQ(to_json(back), text);
  }
}

TEST(Model, JsonHasTheNamesOfColumnsAndClasses) {
  const json small = json::parse(to_json(small_model()));
  EXPECT_EQ(small.at("format"), "ration model");
  EXPECT_EQ(small.at("format_version"), 1);
  EXPECT_EQ(small.at("loss"), "logistic");
  EXPECT_EQ(small.at("weights").at(1), json({{"column", "work=field"}, {"weight", -1.0 / 3}}));
  const json softmax = json::parse(to_json(softmax_model()));
  EXPECT_EQ(softmax.at("weights").at(4), json({{"class", "c"}, {"column", "x"}, {"weight", 4.0}}));
}

TEST(Model, AnUnsoundModelIsNotWritten) {
  const auto refused = [](auto change) {
    Model model = small_model();
    change(model);
    return refusal([&] { to_json(model); });
  };
  EXPECT_THAT(refused([](Model& m) { m.weights.pop_back(); }), HasSubstr("expected 5 weights, got 4"));
  EXPECT_THAT(refused([](Model& m) { m.weights[2] = std::nan(""); }),
              HasSubstr("expected finite weights, got nan in place 2"));
  EXPECT_THAT(refused([](Model& m) { m.weights[0] = std::numeric_limits<double>::infinity(); }),
              HasSubstr("got inf in place 0"));
  EXPECT_THAT(refused([](Model& m) { m.classes = 3; }), HasSubstr("expected 'classes' to be 2"));
  EXPECT_THAT(refused([](Model& m) { m.loss = GlmLoss::squared; }), HasSubstr("needs a numeric label"));
  EXPECT_THAT(refused([](Model& m) { m.huber_width = 0; }), HasSubstr("expected 'huber_width' > 0, got 0"));
  EXPECT_THAT(refused([](Model& m) { m.schema.label = "nobody"; }), HasSubstr("nobody"));
  EXPECT_THAT(refused([](Model& m) { m.schema.columns[1].categories[0] = "caf\xE9"; }),
              HasSubstr("not UTF-8"));
}

TEST(Model, LossAndLabelMustFit) {
  Model softmax = softmax_model();
  softmax.loss = GlmLoss::hinge;
  EXPECT_THAT(refusal([&] { require_sound(softmax); }),
              HasSubstr("'hinge' needs two classes, but 'kind' has 3"));
  Model price = price_model();
  price.loss = GlmLoss::logistic;
  EXPECT_THAT(refusal([&] { require_sound(price); }),
              ::testing::AllOf(HasSubstr("'logistic' needs classes"), HasSubstr("use model squared")));
}

struct BadModel {
  const char* key;
  json value;  // null: the key is removed
  const char* message;
};

TEST(Model, WhatIsWrongInTheFileIsNamedWithItsKey) {
  const json good = json::parse(to_json(small_model()));
  const auto with_weight = [&](std::size_t place, const char* key, const json& value) {
    json weights = good.at("weights");
    weights[place][key] = value;
    return weights;
  };
  json one_less = good.at("weights");
  one_less.erase(0);
  const BadModel bad[] = {
      {"format", nullptr, "m.json: the key 'format' is missing"},
      {"format", "ration certificate", "expected 'ration model' for 'format', got 'ration certificate'"},
      {"format_version", 2, "m.json: it has 'format_version' 2, this program knows version 1"},
      {"format_version", -1, "'format_version', got -1"},
      {"loss", nullptr, "the key 'loss' is missing"},
      {"loss", "log", "'loss': loss: expected one of logistic"},
      {"loss", 7, "expected a text for 'loss', got 7"},
      {"loss", "squared", "m.json: loss 'squared' needs a numeric label, but 'rich' has 2 classes"},
      {"classes", 2.5, "expected a whole number >= 0 for 'classes', got 2.5"},
      {"classes", 3, "m.json: expected 'classes' to be 2 as in the schema, got 3"},
      {"huber_width", "wide", "expected a finite number for 'huber_width', got 'wide'"},
      {"huber_width", -1, "m.json: expected 'huber_width' > 0, got -1"},
      {"schema", nullptr, "the key 'schema' is missing"},
      {"schema", "label = 1", "m.json: schema:1: label: expected a text"},
      {"weights", nullptr, "the key 'weights' is missing"},
      {"weights", {{"age", 1}}, "expected a list for 'weights', got an object"},
      {"weights", one_less, "m.json: the schema has 5 weights, but 'weights' lists 4"},
      {"weights", with_weight(2, "weight", nullptr), "expected a finite number for 'weight', got null"},
      {"weights", with_weight(2, "column", "work=farm"),
       "'weights', place 2: expected 'work=shop' for 'column', got 'work=farm'"},
  };
  for (const BadModel& one : bad) {
    json changed = good;
    if (one.value.is_null()) {
      changed.erase(one.key);
    } else {
      changed[one.key] = one.value;
    }
    const std::string text = changed.dump();
    EXPECT_THAT(refusal([&] { model_from_json(text, "m.json"); }), HasSubstr(one.message));
  }
}

TEST(Model, WhatIsNoJsonIsRefused) {
  const std::string text = to_json(small_model());
  const auto refused = [](const std::string& content) {
    return refusal([&] { model_from_json(content, "m.json"); });
  };
  EXPECT_EQ(refused(""), "m.json:1: not valid JSON; is the file whole?");
  EXPECT_EQ(refused("{\n\n\"a\" 1}"), "m.json:3: not valid JSON; is the file whole?");
  EXPECT_THAT(refused("[1]"), HasSubstr("expected a JSON object"));
  EXPECT_THAT(refused("{\"format\": 1e999}"), HasSubstr("m.json: a number is too large for a double"));
  // However it is cut, and whatever byte is changed: a refusal or a sound model, never anything else.
  for (std::size_t length = 0; length + 2 < text.size(); ++length)
    EXPECT_NE(refused(text.substr(0, length)), "") << length;
  for (std::size_t at = 0; at < text.size(); ++at) {
    std::string changed = text;
    changed[at] = static_cast<char>(changed[at] ^ 0x15);
    refusal([&] { require_sound(model_from_json(changed, "m.json")); });
  }
}

TEST(Model, AWrongClassNameIsRefused) {
  json changed = json::parse(to_json(softmax_model()));
  changed["weights"][4]["class"] = "a";
  EXPECT_THAT(refusal([&] { model_from_json(changed.dump(), "m.json"); }),
              HasSubstr("'weights', place 4: expected 'c' for 'class', got 'a'"));
}

TEST(Model, IsReadFromTheRunsFolderOrTheFile) {
  const TemporaryFolder folder;
  EXPECT_THAT(refusal([&] { read_model(folder.path()); }), HasSubstr("no model.json in this folder"));
  EXPECT_THAT(refusal([&] { read_model(folder.path() + "/none"); }), HasSubstr("No such file"));
  const std::string file = folder.write("model.json", to_json(small_model()));
  expect_same(read_model(folder.path()), small_model());
  expect_same(read_model(file), small_model());
  folder.write("model.json", "{");
  EXPECT_THAT(refusal([&] { read_model(folder.path()); }), HasSubstr("/model.json:1: not valid JSON"));
}

// z = (age - 10) / 50 - 0.5 and an offset by work: by hand.
TEST(Model, EvaluatesTwoClassesAsByHand) {
  Model model = small_model();
  model.weights = {2, 0, 1, 0, -1};
  const data::Table table = read_text(
      "age,work,note,rich\n"
      "60,field,,yes\n"  // z = 2 - 1 = 1: right
      "10,shop,,yes\n"   // z = 0 + 1 - 1 = 0: class 0, wrong
      "10,field,,no\n"   // z = -1: right
      "35,shop,,no\n",   // z = 1 + 1 - 1 = 1: wrong
      model.schema);
  EXPECT_THAT(predict(model, table), ElementsAre(1, 0, 0, 1));
  const Evaluation found = evaluate_public(model, table);
  EXPECT_EQ(found.rows, 4u);
  EXPECT_EQ(found.accuracy, 0.5);
  EXPECT_FALSE(found.root_mean_square_error);
  const double expected = (2 * std::log1p(std::exp(-1)) + std::log(2) + std::log1p(std::exp(1))) / 4;
  EXPECT_NEAR(found.loss, expected, 1e-14);
  EXPECT_EQ(found.log_loss, found.loss);
  EXPECT_EQ(found.auc, 2.5 / 4);  // 1 and 0 of the yes, -1 and 1 of the no
  EXPECT_FALSE(found.r2);
  model.loss = GlmLoss::hinge;
  EXPECT_FALSE(evaluate_public(model, table).log_loss);  // a margin is no probability
  EXPECT_EQ(evaluate_public(model, table).auc, 2.5 / 4);
}

// u = x / 8 and hats at 2 and 4: z = 8 u - 3 + 2 near_2 - 4 near_4, a curve through
// (0, -3), (2, 1), (4, -3), (8, 5).
Model curved_model() {
  Model model;
  model.schema = data::parse_schema(R"(
label = "y"
columns = [
  { name = "x", type = "number", low = 0, high = 8, knots = [2, 4] },
  { name = "y", type = "category", categories = ["no", "yes"] },
]
)");
  model.weights = {8, 2, -4, -3};
  return model;
}

TEST(Model, KnotsComeWithTheModelAndAreUsedForItsRows) {
  const TemporaryFolder folder;
  const Model model = read_model(folder.write("model.json", to_json(curved_model())));
  expect_same(model, curved_model());
  EXPECT_THAT(model.schema.columns[0].knots, ElementsAre(2, 4));
  EXPECT_EQ(json::parse(to_json(model)).at("weights").at(2),
            json({{"column", "x near 4"}, {"weight", -4.0}}));
  const data::Table table =
      read_text("x,y\n0,no\n1,no\n2,yes\n2.4,yes\n2.6,no\n4,no\n5.4,no\n5.6,yes\n8,no\n", model.schema);
  EXPECT_THAT(predict(model, table), ElementsAre(0, 0, 1, 1, 0, 0, 0, 1, 1));
  EXPECT_NEAR(*evaluate_public(model, table).accuracy, 8.0 / 9, 1e-15);
}

TEST(Model, KnotsThatAreNotThoseOfTheWeightsAreRefused) {
  json changed = json::parse(to_json(curved_model()));
  data::Schema schema = curved_model().schema;
  schema.columns[0].knots = {2, 5};
  changed["schema"] = data::to_toml(schema);
  EXPECT_THAT(refusal([&] { model_from_json(changed.dump(), "m.json"); }),
              HasSubstr("'weights', place 2: expected 'x near 5' for 'column', got 'x near 4'"));
  EXPECT_THAT(refusal([&] { predict(curved_model(), read_text("x,y\n0,no\n", schema)); }),
              HasSubstr("not those of the model"));
}

TEST(Model, PredictsNumbersWithinTheBoundsOfTheLabel) {
  Model model;
  model.loss = GlmLoss::squared;
  model.classes = 0;
  model.schema = data::parse_schema(R"(
label = "y"
columns = [
  { name = "x", type = "number", low = 0, high = 1 },
  { name = "y", type = "number", low = 100, high = 500 },
]
)");
  model.weights = {1000, 0};
  const data::Table table = read_text("x,y\n0,100\n0.3,300\n1,500\n", model.schema);
  EXPECT_THAT(predict(model, table), ElementsAre(100, 300, 500));
}

TEST(Model, SeesHatsInATableThatWasReadWithoutKnots) {
  data::Schema schema = curved_model().schema;
  schema.columns[0].knots.clear();
  const char* const csv = "x,y\n0,no\n1,no\n2,yes\n2.4,yes\n2.6,no\n4,no\n5.4,no\n5.6,yes\n8,no\n";
  EXPECT_THAT(predict(curved_model(), read_text(csv, schema)), ElementsAre(0, 0, 1, 1, 0, 0, 0, 1, 1));
  EXPECT_NEAR(*evaluate_public(curved_model(), read_text(csv, schema)).accuracy, 8.0 / 9, 1e-15);
}

TEST(Model, PredictsTheClassOfTheLargestOutput) {
  const Model model = softmax_model();
  const data::Table table = read_text("x,kind\n0,a\n0.5,b\n1,b\n", model.schema);
  EXPECT_THAT(predict(model, table), ElementsAre(0, 1, 2));
  const Evaluation found = evaluate_public(model, table);
  EXPECT_NEAR(*found.accuracy, 2.0 / 3, 1e-15);
  EXPECT_EQ(found.log_loss, found.loss);
  // a is above the rest; of the two b, the one at 0.5 has higher log odds than the a, the one at 1 lower.
  EXPECT_EQ(found.auc, (1 + 0.5) / 2);
}

TEST(Model, EvaluatesNumbersByTheirError) {
  const Model model = price_model();
  const data::Table table = read_text("x,price\n0,23\n1,26\n", model.schema);  // says 20 and 30
  const Evaluation found = evaluate_public(model, table);
  EXPECT_FALSE(found.accuracy);
  EXPECT_NEAR(*found.root_mean_square_error, std::sqrt((9 + 16) / 2.0), 1e-14);
  EXPECT_NEAR(found.loss, 25 / 4.0, 1e-14);
  EXPECT_NEAR(*found.mean_absolute_error, 3.5, 1e-14);
  EXPECT_NEAR(*found.r2, 1 - 25 / 4.5, 1e-14);
  EXPECT_FALSE(found.auc);
  EXPECT_FALSE(found.log_loss);
}

TEST(Model, UsesTheWidthOfTheHuberLoss) {
  Model model = small_model();
  model.loss = GlmLoss::huber;
  model.weights = {0, 0, 0, 0, 1};  // z = 1: t = 1 - 1 = 0, l = h / 4
  const data::Table table = read_text("age,work,note,rich\n10,field,,yes\n", model.schema);
  for (const double width : {0.1, 0.5}) {
    model.huber_width = width;
    EXPECT_NEAR(evaluate_public(model, table).loss, width / 4, 1e-15);
  }
}

TEST(Model, PredictsRowsWithoutLabels) {
  const Model model = softmax_model();
  const TemporaryFolder folder;
  const std::string path = folder.write("new.csv", "x\n0\n1\n");
  const data::Table table = data::read_table(path, model.schema, {.labels = false});
  EXPECT_THAT(predict(model, table), ElementsAre(0, 2));
  EXPECT_THAT(refusal([&] { evaluate_public(model, table); }), HasSubstr("expected the label to be"));
}

TEST(Model, ATableOfOtherColumnsIsRefused) {
  const data::Table table = read_text("x,price\n0,23\n", price_model().schema);
  EXPECT_THAT(refusal([&] { predict(small_model(), table); }), HasSubstr("not those of the model"));
}

}  // namespace
}  // namespace ration::testing
