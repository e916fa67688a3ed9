#include "train/choose_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "data/named_data.h"
#include "ration/objectives/network.h"
#include "ration/train/resolve.h"
#include "support/small_table.h"

namespace ration::testing {
namespace {

data::Schema images(std::size_t height, std::size_t width) {
  data::Schema schema = *data::schema_of_data("mnist:anywhere");
  schema.image->height = height;
  schema.image->width = width;
  return schema;
}

std::string name_for(const data::Schema& schema) {
  const ChosenModel chosen = choose_model(schema);
  EXPECT_NE(chosen.why, "");
  return chosen.model.name();
}

TEST(ChooseModel, ForTablesTheLabelDecides) {
  data::Schema schema = small_schema();
  EXPECT_EQ(name_for(schema), "logistic");
  schema.columns[3].categories = {"no", "some", "yes"};
  EXPECT_EQ(name_for(schema), "softmax");
  schema.label = "age";
  EXPECT_EQ(name_for(schema), "squared");
  schema.columns[0].above = 30;
  EXPECT_EQ(name_for(schema), "logistic") << "at most 30, and more";
}

TEST(ChooseModel, TextsAreForALinearModel) {
  EXPECT_EQ(name_for(*data::schema_of_data("text:anywhere")), "logistic");
}

// NOT networks: names that are.
class AnyName final : public Networks {
 public:
  AnyName() { use_networks(this); }
  ~AnyName() override { use_networks(nullptr); }
  std::vector<std::string> names() const override { return {"cnn:papernot"}; }
  bool knows(std::string_view) const override { return true; }
  NetworkDefaults usual(std::string_view) const override { return {}; }
  std::vector<double> start(const NetworkSpec&, RandomSource&) const override { return {}; }
  std::size_t parameters(const NetworkSpec&) const override { return 0; }
  std::unique_ptr<Objective> objective(const NetworkSpec&, std::shared_ptr<const Rows>, const Hardware&,
                                       bool) const override {
    return nullptr;
  }
  void require_device(const std::string&) const override {}
};

// By their size: what can be scattered is, whether there are networks or not.
TEST(ChooseModel, ImagesAreScatteredWhereTheyCanBe) {
  EXPECT_EQ(name_for(images(28, 28)), "scatter+softmax");
  EXPECT_EQ(name_for(*data::schema_of_data("cifar10:anywhere")), "scatter+softmax");
  EXPECT_EQ(name_for(images(30, 28)), "softmax") << "there are no networks";
  const AnyName networks;
  EXPECT_EQ(name_for(images(28, 28)), "scatter+softmax");
  EXPECT_EQ(name_for(images(30, 28)), "cnn:papernot");
  EXPECT_EQ(name_for(images(5, 5)), "softmax");
}

TEST(ChooseModel, APlanOfImagesIsWholeWithItsBudget) {
  Plan plan;
  plan.data = "mnist:anywhere";
  plan.epsilon = 3;
  plan.delta = 1e-5;
  const ResolvedPlan resolved = resolve(plan);
  EXPECT_EQ(resolved.plan.model, "scatter+softmax");
  EXPECT_EQ(resolved.why_model, "rows are images of 28 x 28 pixels");
  EXPECT_EQ(resolved.plan.method, "dpsgd");
  EXPECT_EQ(read_schema_of(plan).image->features, data::ImageFeatures::scatter);
  plan.steps = 7;  // of the method that does the work
  EXPECT_EQ(resolve(plan).steps(), 7);
}

// Linear models of texts have settings of their own, by whichever way dpsgd was chosen; networks have theirs.
TEST(ChooseModel, TextsAreTrainedByDpsgdWithItsSettingsForThem) {
  Plan plan;
  plan.data = "text:anywhere";
  plan.rows = 7000;
  plan.epsilon = 3;
  plan.delta = 1e-5;
  const ResolvedPlan resolved = resolve(plan);
  EXPECT_EQ(resolved.plan.model, "logistic");
  EXPECT_EQ(resolved.plan.method, "dpsgd");
  EXPECT_EQ(resolved.why_method, "rows are texts");
  EXPECT_EQ(resolved.plan.lr, 60);
  EXPECT_EQ(resolved.plan.clip_bound, 0.5);
  plan.method = "dpsgd";
  EXPECT_EQ(to_toml(resolve(plan).plan), to_toml(resolved.plan));
  plan.lr = 4;
  EXPECT_EQ(resolve(plan).plan.lr, 4);
  plan.data.clear();
  plan.lr.reset();
  EXPECT_LT(resolve(plan).plan.lr, 60) << "a table";
  plan.method = "auto";
  const data::Schema texts = *data::schema_of_data("text:anywhere");
  EXPECT_EQ(resolve(plan, texts).plan.method, "dpsgd") << "in memory";
  plan.schema = "nowhere.toml";
  plan.model = "logistic";
  EXPECT_EQ(resolve(plan).plan.method, "auto") << "who reads the rows says that there is no schema";
}

TEST(ChooseModel, WhatIsNamedStays) {
  Plan plan;
  plan.model = "softmax";
  EXPECT_EQ(model_for(plan, small_schema()), "softmax");
  plan.model = "auto";
  EXPECT_EQ(model_for(plan, small_schema()), "logistic");
}

}  // namespace
}  // namespace ration::testing
