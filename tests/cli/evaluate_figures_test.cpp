// What `ration evaluate` says beside the accuracy.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <memory>

#include "cli/refusal.h"
#include "cli/saved_run.h"
#include "ration/privacy/certificate.h"
#include "support/ration_command.h"
#include "train/evaluation.h"

namespace ration::testing {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class EvaluationFigures : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { shared_ = std::make_unique<CensusRun>(); }
  static void TearDownTestSuite() { shared_.reset(); }

  static const CensusRun& census() { return *shared_; }
  static json ask(const std::string& line) { return ration_json(line, census().path()); }
  static std::string text_of(const std::string& line) {
    const Finished done = run_ration(line, census().path());
    EXPECT_EQ(done.exit_code, 0) << done.err;
    return done.out;
  }
  static void expect_message(const std::string& line, const std::string& message) {
    SCOPED_TRACE(line);
    expect_refused(run_ration(line, census().path()), message);
  }

 private:
  static std::unique_ptr<CensusRun> shared_;
};

std::unique_ptr<CensusRun> EvaluationFigures::shared_;

TEST_F(EvaluationFigures, OfPublicRowsAreThoseOfTheLibrary) {
  const Evaluation exact = evaluate_public(census().model(), census().table());
  const json found = ask("evaluate run --data test.csv --public");
  EXPECT_EQ(found.at("auc"), *exact.auc);
  EXPECT_EQ(found.at("log_loss"), exact.loss);
  EXPECT_EQ(found.at("brier"), *exact.brier);
  EXPECT_EQ(found.at("balanced_accuracy"), *exact.balanced_accuracy);
  EXPECT_NEAR(found.at("balanced_accuracy"),
              (found.at("recall").at("low").get<double>() + found.at("recall").at("high").get<double>()) / 2,
              1e-15);
  EXPECT_EQ(found.at("confusion").at("low").at("high"), exact.confusion[1]);
  EXPECT_EQ(found.at("confusion").at("high").at("low"), exact.confusion[2]);
  ASSERT_EQ(found.at("calibration").size(), exact.calibration.size());
  EXPECT_EQ(found.at("calibration").at(0).at("was"), exact.calibration[0].was);
  EXPECT_GT(*exact.auc, 0.8);
}

TEST_F(EvaluationFigures, AreOneLineAndMoreIfAsked) {
  const std::string short_text = text_of("evaluate run --data test.csv --public");
  EXPECT_THAT(short_text, AllOf(HasSubstr("\nbalanced accuracy 0."), HasSubstr(", AUC 0."),
                                HasSubstr(", log loss 0."), HasSubstr(", Brier score 0.")));
  EXPECT_EQ(std::count(short_text.begin(), short_text.end(), '\n'), 4);
  EXPECT_THAT(text_of("evaluate run --data test.csv --public --details"),
              AllOf(HasSubstr("\nrows of  told low  told high\n"),
                    HasSubstr("\nprobability of high  rows    said     was\n"), HasSubstr("\n0.1 to 0.2 ")));
}

// The rows of a group are those that a file of them would have.
TEST_F(EvaluationFigures, OfEachGroupAreThoseOfItsRows) {
  const json found = ask("evaluate run --data test.csv --public --by sex");
  EXPECT_EQ(found.at("by").at("column"), "sex");
  const json& groups = found.at("by").at("groups");
  ASSERT_EQ(groups.size(), 2u);
  std::size_t rows = 0;
  double right = 0;
  std::istringstream lines(read_whole_file(census().path() + "/test.csv"));
  std::string header;
  std::getline(lines, header);
  const std::string value = groups.at(1).at("value");
  std::string part = header + "\n";
  for (std::string line; std::getline(lines, line);)
    part += line.find("," + value + ",") != std::string::npos ? line + "\n" : "";
  census().write("part.csv", part);
  const json alone = ask("evaluate run --data part.csv --public");
  for (const char* key : {"rows", "accuracy", "auc", "log_loss", "brier", "recall", "confusion"})
    EXPECT_EQ(groups.at(1).at(key), alone.at(key)) << key;
  for (const json& group : groups) {
    rows += group.at("rows").get<std::size_t>();
    right += group.at("accuracy").get<double>() * group.at("rows").get<double>();
  }
  EXPECT_EQ(rows, 3000u);
  EXPECT_NEAR(right / 3000, found.at("accuracy"), 1e-12);
  EXPECT_THAT(text_of("evaluate run --data test.csv --public --by sex"),
              AllOf(HasSubstr("\nsex "), HasSubstr("balanced accuracy     AUC")));
}

TEST_F(EvaluationFigures, GroupsAreOfACategory) {
  const std::string line = "evaluate run --data test.csv --public --by ";
  expect_message(line + "age",
                 "--by: expected a category that the model sees, but column 'age' is no category");
  expect_message(line + "height", "--by: the model's schema has no column 'height'");
  expect_message(line + "income", "--by: 'income' is the label");
  expect_message("evaluate run --data test.csv --epsilon 1 --by sex", "--by goes with --public");
  expect_message("evaluate run --data test.csv --epsilon 1 --details", "--details goes with --public");
}

TEST_F(EvaluationFigures, OfASupportVectorMachineHaveNoProbabilities) {
  Model hinge = census().model();
  hinge.loss = GlmLoss::hinge;
  census().save("hinge", hinge);
  const json found = ask("evaluate hinge --data test.csv --public");
  EXPECT_EQ(found.at("auc"), ask("evaluate run --data test.csv --public").at("auc"));
  for (const char* key : {"log_loss", "brier", "calibration"}) EXPECT_FALSE(found.contains(key)) << key;
  const json noisy = ask("evaluate hinge --data test.csv --epsilon 100 --scores");
  EXPECT_NEAR(noisy.at("auc"), found.at("auc"), 0.01);
  EXPECT_TRUE(noisy.at("brier").is_null());
  EXPECT_TRUE(noisy.at("calibration").empty());
}

// Noise of scale 0.01 on 37 counts: each is off by more than 0.3 with probability 1e-13.
TEST_F(EvaluationFigures, OfPrivateRowsComeFromOneHistogram) {
  const Evaluation exact = evaluate_public(census().model(), census().table());
  const json found = ask("evaluate run --data test.csv --epsilon 100 --scores --out scores");
  EXPECT_NEAR(found.at("accuracy"), *exact.accuracy, 1e-3);
  EXPECT_NEAR(found.at("balanced_accuracy"), *exact.balanced_accuracy, 1e-3);
  EXPECT_NEAR(found.at("auc"), *exact.auc, found.at("auc_within").get<double>() + 1e-3);
  EXPECT_LT(found.at("auc_within"), 0.03);
  EXPECT_NEAR(found.at("log_loss"), exact.loss, 0.02);
  EXPECT_NEAR(found.at("brier"), *exact.brier, 0.005);
  EXPECT_NEAR(found.at("rows"), 3000, 5);
  EXPECT_EQ(found.at("epsilon"), 100.0);
  EXPECT_EQ(found.at("histogram").size(), 18u);
  EXPECT_EQ(found.at("thresholds").size(), 17u);
  EXPECT_NEAR(found.at("thresholds").at(8).at("recall"), *exact.recall[1], 2e-3);
  EXPECT_NEAR(found.at("thresholds").at(8).at("false_positive_rate"), 1 - *exact.recall[0], 2e-3);
  for (const char* key : {"accuracy", "balanced_accuracy", "auc", "log_loss", "brier"}) {
    EXPECT_GT(found.at(std::string(key) + "_error"), 0) << key;
    EXPECT_LT(found.at(std::string(key) + "_error"), 1e-3) << key;
  }
  const Certificate certificate =
      certificate_from_json(read_whole_file(census().path() + "/scores/certificate.json"));
  EXPECT_EQ(certificate.epsilon, 100);
  EXPECT_EQ(certificate.delta, 0);
  ASSERT_EQ(certificate.events.size(), 1u);
  EXPECT_EQ(run_ration("verify scores", census().path()).exit_code, 0);
  const json written = json::parse(read_whole_file(census().path() + "/scores/evaluation.json"));
  for (const char* key : {"auc", "histogram", "thresholds", "calibration"})
    EXPECT_EQ(written.at(key), found.at(key)) << key;
}

TEST_F(EvaluationFigures, OfPrivateRowsSayWhatTheNoiseLeavesOpen) {
  EXPECT_THAT(text_of("evaluate run --data test.csv --epsilon 10 --scores"),
              AllOf(HasSubstr("the counts of rows by class and score carry noise of scale 0.1"),
                    HasSubstr("\nbalanced accuracy 0."), HasSubstr("AUC 0."), HasSubstr(" +- 0."),
                    HasSubstr("it cost epsilon 10, delta 0")));
  EXPECT_THAT(text_of("evaluate run --data test.csv --epsilon 10"),
              AllOf(HasSubstr(" +- 0."), HasSubstr("counts of right and wrong rows"), Not(HasSubstr("AUC"))));
  const json wide = ask("evaluate run --data test.csv --epsilon 1 --scores");
  const json narrow = ask("evaluate run --data test.csv --epsilon 1");
  // sqrt(18) for half as many cells, and a little for the counts themselves being noisy.
  EXPECT_NEAR(wide.at("accuracy_error").get<double>() / narrow.at("accuracy_error").get<double>(), 4.2, 0.4);
}

TEST_F(EvaluationFigures, AHistogramIsOfTwoClasses) {
  Model three = census().model();
  three.loss = GlmLoss::softmax;
  three.classes = 3;
  three.schema = data::parse_schema(
      "label = 'kind'\ncolumns = [{ name = 'x', type = 'number', low = 0, high = 1 },\n"
      "{ name = 'kind', type = 'category', categories = ['a', 'b', 'c'] }]\n");
  three.weights.assign(6, 0.0);
  census().save("three", three);
  census().write("three.csv", "x,kind\n0,a\n1,b\n");
  expect_message("evaluate three --data three.csv --epsilon 1 --scores",
                 "--scores: expected a model of two classes, got 3");
  expect_message("evaluate run --data test.csv --public --scores", "--scores goes with --epsilon");
}

}  // namespace
}  // namespace ration::testing
