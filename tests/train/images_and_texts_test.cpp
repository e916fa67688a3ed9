#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>

#include "data/named_data.h"
#include "support/binary_files.h"
#include "support/doubles.h"
#include "support/small_table.h"
#include "train/public_influence.h"
#include "train/runs.h"

namespace ration::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Ten images: a bright upper half is a 0, a bright lower one a 1.
class HalfBright {
 public:
  HalfBright() {
    const std::string bright(392, '\xE0');
    const std::string dark(392, '\x10');
    std::string pixels;
    std::string labels;
    for (int i = 0; i < 10; ++i) {
      pixels += i % 2 == 0 ? bright + dark : dark + bright;
      labels += i % 2 == 0 ? '\x00' : '\x01';
    }
    folder_.write("train-images-idx3-ubyte", idx_images(10, 28, 28, pixels));
    folder_.write("train-labels-idx1-ubyte", idx_labels(10, labels));
  }
  std::string name() const { return "mnist:" + folder_.path(); }
  std::string run() const { return folder_.path() + "/run"; }
  std::string write(const std::string& file, const std::string& text) const {
    return folder_.write(file, text);
  }

 private:
  TemporaryFolder folder_;
};

Plan plan_for(const std::string& data, const std::string& model) {
  Plan plan;
  plan.data = data;
  plan.model = model;
  plan.method = "dpsgd";
  plan.epsilon = 1e4;
  plan.delta = 1e-5;
  plan.rate = 1;
  plan.rows = 10;
  plan.steps = 4;
  return plan;
}

TEST(ImagesAndTexts, AModelOfPixelsIsTrainedWithoutASchemaFile) {
  const HalfBright files;
  Plan plan = plan_for(files.name(), "softmax");
  plan.data_hash = true;
  const RunOutcome outcome = train(plan, {.out = files.run()}, SecureRandom::for_this_thread());
  EXPECT_TRUE(outcome.finished);
  expect_finished(files.run());
  const Model model = read_model(files.run());
  const data::Table table = data::read_table(files.name(), model.schema, {.labels = false});
  EXPECT_THAT(predict(model, table), ElementsAre(0, 1, 0, 1, 0, 1, 0, 1, 0, 1));
  EXPECT_EQ(outcome.certificate.data_hash, data::content_hash(data::files_of(files.name())));
}

TEST(ImagesAndTexts, AModelOfScatteringKnowsItsFeatures) {
  const HalfBright files;
  train(plan_for(files.name(), "scatter+softmax"), {.out = files.run()}, SecureRandom::for_this_thread());
  const Model model = read_model(files.run());
  EXPECT_EQ(model.schema.image->features, data::ImageFeatures::scatter);
  EXPECT_EQ(model.weights.size(), 10u * (81 * 49 + 1));
  EXPECT_EQ(evaluate_public(model, data::read_table(files.name(), model.schema)).accuracy, 1.0);
}

// Rows of scattering are centred, so the run that is estimated must be one on centred rows.
TEST(ImagesAndTexts, TheInfluenceOnAModelOfScatteringIsThatOfItsRun) {
  const HalfBright files;
  const auto influence = [&](const std::string& center) {
    Plan plan = plan_for(files.name(), "scatter+softmax");
    plan.center = center;
    plan.epsilon = 100;
    plan.lr = 0.01;
    plan.steps = 3;
    SeededRandom random(1);
    const data::Schema schema = read_schema_of(plan);
    return influence_on_public_rows(resolve(plan), schema, data::read_table(files.name(), schema), random,
                                    {.runs = 1});
  };
  const std::vector<double> usual = influence("auto");
  EXPECT_EQ(usual, influence("yes"));
  ASSERT_EQ(usual.size(), 3u);
  EXPECT_GT(std::abs(influence("no")[1] / usual[1] - 1), 0.1);
}

TEST(ImagesAndTexts, AStoppedRunGoesOnUnlessAFileChanged) {
  const HalfBright files;
  const std::atomic<bool> stop = true;
  const RunOptions stopped{.out = files.run(), .stop = &stop};
  EXPECT_FALSE(train(plan_for(files.name(), "softmax"), stopped, SecureRandom::for_this_thread()).finished);
  const std::string labels = idx_labels(10, std::string(10, '\x00'));
  const std::string before = read_whole_file(files.name().substr(6) + "/train-labels-idx1-ubyte");
  files.write("train-labels-idx1-ubyte", labels);
  EXPECT_THAT(refusal([&] { resume_run({.out = files.run()}, SecureRandom::for_this_thread()); }),
              HasSubstr("not the rows the run began with"));
  files.write("train-labels-idx1-ubyte", before);
  EXPECT_TRUE(resume_run({.out = files.run()}, SecureRandom::for_this_thread()).finished);
}

TEST(ImagesAndTexts, PublicNumbersOfRowsAreDeclared) {
  Plan plan = plan_for("mnist:anywhere", "softmax");
  plan.rows.reset();
  EXPECT_EQ(resolve(plan).plan.rows, 60000);
  EXPECT_FALSE(resolve(plan).count_noise);
  plan.rows = 59000;
  EXPECT_EQ(resolve(plan).plan.rows, 59000);
  plan.data = "text:anywhere";
  plan.rows.reset();
  EXPECT_TRUE(resolve(plan).count_noise);
}

TEST(ImagesAndTexts, ScatteringHasSettingsOfItsOwn) {
  Plan plan;
  plan.data = "fashion-mnist";
  plan.model = "scatter+softmax";
  plan.epsilon = 3;
  plan.delta = 1e-5;
  const ResolvedPlan resolved = resolve(plan);
  EXPECT_EQ(resolved.accountant, Accountant::pld);
  EXPECT_LT(resolved.rate, 1);
  EXPECT_EQ(resolved.plan.lr, 160);
  plan.epsilon = 1;
  EXPECT_EQ(resolve(plan).plan.lr, 80) << "more noise, shorter steps";
  plan.epsilon = 3;
  plan.steps = 7;
  plan.lr = 2;
  EXPECT_EQ(resolve(plan).steps(), 7);
  EXPECT_EQ(resolve(plan).plan.lr, 2);
}

TEST(ImagesAndTexts, ScatteringIsForImages) {
  EXPECT_THAT(refusal([] { read_schema_of(plan_for("text:anywhere", "scatter+softmax")); }),
              HasSubstr("scatter+softmax needs images"));
}

TEST(ImagesAndTexts, TextsAreBagsForALinearModel) {
  const TemporaryFolder folder;
  std::string lines;
  for (int i = 0; i < 5; ++i) lines += "a good film\t1\nbad , so bad\t0\n";
  const std::string name = "text:" + folder.write("reviews.tsv", lines);
  const std::string run = folder.path() + "/run";
  train(plan_for(name, "logistic"), {.out = run}, SecureRandom::for_this_thread());
  const Model model = read_model(run);
  const std::string more = folder.write("more.tsv", "good\nso bad\n");
  const data::Table table = data::read_table(more, model.schema, {.labels = false});
  EXPECT_THAT(predict(model, table), ElementsAre(1, 0));
}

}  // namespace
}  // namespace ration::testing
