#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <memory>

#include "cli/refusal.h"
#include "ration/data/census.h"
#include "ration/privacy/certificate.h"
#include "ration/train/plan.h"
#include "support/ration_command.h"
#include "train/plan_docs.h"

namespace ration::testing {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::size_t kRows = 2000;

// A folder with census.csv, test.csv, schema.toml and plan.toml.
class TrainCommand : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    shared_ = std::make_unique<TemporaryFolder>();
    std::ofstream rows(shared_->path() + "/census.csv");
    data::write_census(rows, kRows, 1);
    std::ofstream test(shared_->path() + "/test.csv");
    data::write_census(test, 1000, 2);
    shared_->write("schema.toml", to_toml(data::census_schema()));
    shared_->write("plan.toml",
                   "schema = 'schema.toml'\nrows = 2000\nmethod = 'dpsgd'\nepsilon = 4\ndelta = 1e-6\nsteps "
                   "= 40\nlr = 4\nclip "
                   "= 'abadi'\n");
  }
  static void TearDownTestSuite() { shared_.reset(); }

  const std::string& path() const { return shared_->path(); }
  Finished run(const std::string& line) const { return run_ration(line, path()); }
  json ask(const std::string& line) const { return ration_json(line, path()); }
  std::string file(const std::string& name) const { return read_whole_file(path() + "/" + name); }
  bool exists(const std::string& name) const { return std::filesystem::exists(path() + "/" + name); }
  std::string write(const std::string& name, const std::string& text) { return shared_->write(name, text); }
  void expect_message(const std::string& line, const std::string& message) const {
    SCOPED_TRACE(line);
    expect_refused(run(line), message);
    EXPECT_FALSE(exists("never"));
  }

 private:
  static std::unique_ptr<TemporaryFolder> shared_;
};

std::unique_ptr<TemporaryFolder> TrainCommand::shared_;

using PlanCommand = TrainCommand;

// A Gaussian search costs more the more candidates it may try, and all of them are charged: the noise for the
// same share of the budget is half as large again as by the published formula, which is false for so many.
TEST_F(TrainCommand, ChargesAGaussianSearchForAllItsCandidates) {
  ASSERT_EQ(run("train census.csv --schema schema.toml --rows 2000 --epsilon 4 --delta 1e-6 --method blsgd "
                "--search-noise gaussian --expected-steps 3 --candidates 10000 --shrink 0.99 --out searched")
                .exit_code,
            0);
  const Certificate certificate = certificate_from_json(file("searched/certificate.json"));
  double first_noise = 0;  // the largest: it only falls
  for (const CountedEvent& one : certificate.events) {
    const auto& sampled = std::get<Event::PoissonSampled>(one.event.node());
    const auto* search = std::get_if<Event::AboveThresholdGaussian>(&sampled.base.node());
    if (search == nullptr) continue;
    EXPECT_EQ(search->queries, 10'000);
    first_noise = std::max(first_noise, search->query_noise);
  }
  const double rho = std::pow(4.0 / (2 * 3), 2) / 2;
  EXPECT_GT(first_noise, 1.4 * std::sqrt(3 / rho));
  EXPECT_LT(first_noise, 1.7 * std::sqrt(3 / rho));
  EXPECT_EQ(run("verify searched/certificate.json").exit_code, 0);
}

// Rows, schema and budget are a whole command. A second one does not touch the first one's run.
TEST_F(TrainCommand, NeedsNothingButRowsSchemaAndBudget) {
  const std::string command = "train census.csv --schema schema.toml --epsilon 4 --delta 1e-6";
  const Finished done = run(command);
  ASSERT_EQ(done.exit_code, 0) << done.err;
  EXPECT_THAT(done.out, HasSubstr("model       logistic; auto chose it: label 'income' has 2 classes\n"));
  EXPECT_THAT(done.out, HasSubstr("method      auto, "));
  EXPECT_GT(ask("evaluate run --data test.csv --public")["accuracy"], 0.79);
  EXPECT_EQ(parse_plan(file("run/plan.toml")).model, "logistic");
  EXPECT_EQ(json::parse(file("run/certificate.json"))["model"], "logistic");
  EXPECT_EQ(run("verify run").exit_code, 0);
  const std::string model = file("run/model.json");
  expect_refused(run(command), "run: holds a finished run; choose another folder by --out");
  EXPECT_EQ(file("run/model.json"), model);
}

TEST_F(TrainCommand, PrintsTheStableKeys) {
  const json out = ask("train census.csv --plan plan.toml --out keys");
  for (const char* key : {"epsilon", "delta", "accountant", "relation", "noise_multiplier", "steps", "method",
                          "seconds", "finished", "run"}) {
    EXPECT_TRUE(out.contains(key)) << key;
  }
  EXPECT_LE(out["epsilon"], 4);
  EXPECT_GE(out["epsilon"], 3.99);
  EXPECT_EQ(out["delta"], 1e-6);
  EXPECT_EQ(out["accountant"], "gdp");
  EXPECT_EQ(out["relation"], "add_remove");
  EXPECT_EQ(out["steps"], 40);
  EXPECT_EQ(out["method"], "dpsgd");
  EXPECT_EQ(out["finished"], true);
}

// No draw went beyond 9.42 standard deviations, and the certificate said delta 1e-30 all the same.
TEST_F(TrainCommand, RefusesADeltaThatItsRandomNumbersCannotDeliver) {
  expect_message(
      "train census.csv --schema schema.toml --rows 2000 --epsilon 8 --delta 1e-30 --method dpsgd --steps 1 "
      "--out never",
      "is less than the random numbers of this run can deliver at epsilon 8");
}

TEST_F(TrainCommand, CertifiesWhatItsRandomNumbersTakeOfDelta) {
  ASSERT_EQ(run("train census.csv --plan plan.toml --out sampled").exit_code, 0);
  const json certificate = json::parse(file("sampled/certificate.json"));
  EXPECT_GT(certificate["random_words"], 40);
  EXPECT_GT(certificate["sampler_delta"], 0);
  EXPECT_LE(certificate["sampler_delta"], 1e-12);
  EXPECT_THAT(file("sampled/certificate.txt"), HasSubstr("Sampler"));
  json forged = certificate;
  forged["sampler_delta"] = 0;
  write("forged.json", forged.dump());
  EXPECT_THAT(run("verify forged.json").err, HasSubstr("of delta for its random numbers"));
  EXPECT_EQ(run("verify sampled").exit_code, 0);
  EXPECT_THAT(run("plan --plan plan.toml").out, HasSubstr("sampler     exact"));
}

TEST_F(TrainCommand, LeavesARunThatVerifiesEvaluatesAndPredicts) {
  ASSERT_EQ(run("train census.csv --plan plan.toml --epsilon 100 --out whole").exit_code, 0);
  for (const char* name :
       {"model.json", "certificate.json", "certificate.txt", "plan.toml", "schema.toml", "progress.csv"}) {
    EXPECT_TRUE(exists(std::string("whole/") + name)) << name;
  }
  const Certificate certificate = certificate_from_json(file("whole/certificate.json"));
  EXPECT_TRUE(verify(certificate).holds());
  ASSERT_EQ(certificate.events.size(), 1u);
  EXPECT_EQ(certificate.events[0].count, 40);
  EXPECT_TRUE(certificate.secure_random);
  EXPECT_EQ(run("verify whole/certificate.json").exit_code, 0);
  EXPECT_GT(ask("evaluate whole --data test.csv --public")["accuracy"], 0.79);
  const Finished predicted = run("predict whole --data test.csv");
  EXPECT_EQ(predicted.exit_code, 0);
  EXPECT_GE(std::count(predicted.out.begin(), predicted.out.end(), '\n'), 1000);
}

TEST_F(TrainCommand, TheResolvedPlanGivesTheSameRunAgain) {
  const json first = ask("train census.csv --plan plan.toml --rate 0.1 --out resolved");
  const json again = ask("plan --plan resolved/plan.toml");
  for (const char* key : {"epsilon", "noise_multiplier", "steps", "rate", "accountant", "sampling"}) {
    EXPECT_EQ(first[key], again[key]) << key;
  }
}

TEST_F(TrainCommand, FlagsWinOverThePlanFile) {
  const json out =
      ask("train --data census.csv --plan plan.toml --steps 7 --epsilon 2 --relation replace_one "
          "--clip auto-v --clip-bound 0.5 --out flags");
  EXPECT_EQ(out["steps"], 7);
  EXPECT_EQ(out["epsilon_budget"], 2);
  EXPECT_EQ(out["relation"], "replace_one");
  EXPECT_EQ(out["clip"], "auto-v");
  EXPECT_EQ(out["clip_bound"], 0.5);
  const Plan used = parse_plan(file("flags/plan.toml"));
  EXPECT_EQ(used.lr, 4);
}

TEST_F(TrainCommand, PeopleReadASummary) {
  const Finished done = run("train census.csv --plan plan.toml --out summary");
  EXPECT_EQ(done.exit_code, 0);
  EXPECT_EQ(done.err, "");  // no bar where there is no terminal
  EXPECT_THAT(done.out, HasSubstr("dpsgd, 40 steps"));
  EXPECT_THAT(done.out, HasSubstr("summary: model.json"));
  EXPECT_THAT(done.out, HasSubstr("certified: epsilon "));
}

TEST_F(TrainCommand, QuietSaysNothing) {
  const Finished done = run("train census.csv --plan plan.toml --out quiet --quiet");
  EXPECT_EQ(done.exit_code, 0);
  EXPECT_EQ(done.out + done.err, "");
  EXPECT_TRUE(exists("quiet/model.json"));
}

TEST_F(TrainCommand, CountsTheRowsPrivatelyIfNobodySaysHowMany) {
  const json out =
      ask("train census.csv --schema schema.toml --epsilon 4 --delta 1e-6 --method dpsgd --steps 20 --out "
          "counted");
  EXPECT_TRUE(out.contains("count_noise"));
  const std::string hint = "give --rows to save it";
  EXPECT_THAT(run("plan --epsilon 4 --delta 1e-6").out, HasSubstr(hint + ", and for features hats\n"));
  EXPECT_THAT(run("plan --method dpsgd --epsilon 4 --delta 1e-6").out, HasSubstr(hint + "\n"));
  const Certificate certificate = certificate_from_json(file("counted/certificate.json"));
  EXPECT_EQ(certificate.events.size(), 2u);
  EXPECT_TRUE(verify(certificate).holds());
}

TEST_F(TrainCommand, TheModelIsThatOfTheSchemaAndTheFlag) {
  for (const std::string model : {"softmax", "hinge", "huber"}) {
    const json out =
        ask("train census.csv --plan plan.toml --epsilon 100 --model " + model + " --out run-" + model);
    EXPECT_EQ(out["model"], model);
    EXPECT_GT(ask("evaluate run-" + model + " --data test.csv --public")["accuracy"], 0.7);
  }
}

TEST_F(TrainCommand, BudgetsRefuseWithStatusTwo) {
  const Finished refused = run("train census.csv --plan plan.toml --noise 0.5 --out never");
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_EQ(refused.out, "");
  EXPECT_THAT(refused.err, HasSubstr("more than its budget of 4"));
  EXPECT_FALSE(exists("never"));
}

TEST_F(TrainCommand, EachMistakeIsOneLine) {
  const std::string good = "train census.csv --plan plan.toml --out never ";
  expect_message("train census.csv --schema schema.toml --delta 1e-6 --out never", "epsilon is needed");
  expect_message("train census.csv --schema schema.toml --epsilon 1 --out never", "delta is needed");
  expect_message("train census.csv --epsilon 1 --delta 1e-6 --out never", "schema is needed");
  expect_message("train census.csv schema.toml --epsilon 1 --delta 1e-6 --out never",
                 "unexpected word 'schema.toml'; did you mean --schema schema.toml?");
  expect_message(good + "--schema none.toml", "none.toml: cannot read");
  expect_message(good + "--clip none",
                 "--clip: expected one of auto, abadi, auto-v, auto-s, adaptive, got 'none'");
  expect_message(good + "--lr fast", "--lr: expected lr > 0, got 'fast'");
  expect_message(good + "--clip-bound -1", "--clip-bound: expected clip_bound > 0, got '-1'");
  expect_message(good + "--threads 0", "--threads: expected a whole number");
  expect_message(good + "--data test.csv", "the data is given twice: 'census.csv' and 'test.csv'");
  expect_message("train --plan plan.toml --out never", "data is needed");
  expect_message("train none.csv --plan plan.toml --out never", "none.csv");
  expect_message("train census.csv --plan none.toml --out never", "none.toml: cannot read: ");
  expect_message(good + "--rate 0.1 --batch 10", "rate and batch say the same");
  expect_message(good + "--epochs 2 --steps 10", "steps and epochs say the same");
  expect_message(good + "--learning-rate 1", "unknown flag '--learning-rate'");
  expect_message(good + "--target nobody", "nobody");
  expect_message(good + "--relation replace_one --rows 1999", "expected rows = 2000 under replace_one");
  expect_message(good + "--resume never",
                 "--resume continues a run with its own plan; leave 'census.csv' out");
  expect_message("train --resume never --epsilon 1", "leave --epsilon out");
  expect_message("train --resume never --out other", "leave --out out");
  expect_message("train --resume never", "no run to go on with");
}

TEST_F(TrainCommand, APlanFileIsRefusedWithItsLine) {
  write("bad.toml", "epsilon = 1\nrate = 1.5\n");
  expect_message("train census.csv --plan bad.toml --out never",
                 "bad.toml:2: rate: expected 0 < rate <= 1, got '1.5'");
  write("unknown.toml", "epsilon = 1\nlearning_rate = 1.5\n");
  expect_message("plan --plan unknown.toml", "unknown.toml:2: unknown key 'learning_rate'; keys are data,");
}

TEST_F(TrainCommand, AFolderIsUsedOnce) {
  ASSERT_EQ(run("train census.csv --plan plan.toml --out once --quiet").exit_code, 0);
  const std::string model = file("once/model.json");
  expect_refused(run("train census.csv --plan plan.toml --out once"), "once");
  EXPECT_EQ(file("once/model.json"), model);
}

TEST_F(TrainCommand, EveryKeyIsAFlagWithItsHelp) {
  for (const std::string command : {"train", "plan"}) {
    const Finished help = run(command + " --help");
    EXPECT_EQ(help.exit_code, 0);
    for (const PlanKey& key : plan_keys()) {
      EXPECT_THAT(help.out, HasSubstr("  " + key.flag() + (key.value.empty() ? " " : " " + key.value)));
    }
    EXPECT_THAT(help.out, HasSubstr("Examples:"));
    EXPECT_THAT(help.out, HasSubstr("Learning rate schedule (constant, cosine, step) [constant]"));
  }
}

TEST_F(PlanCommand, ListsItsKeys) {
  const Finished keys = run("plan --keys");
  EXPECT_EQ(keys.exit_code, 0);
  EXPECT_EQ(keys.out, plan_keys_as_markdown());
}

TEST_F(PlanCommand, ASettingThatTheMethodDoesNotUseIsRefused) {
  expect_message("train census.csv --plan plan.toml --method blsgd --steps 10 --out never",
                 "plan: steps: method blsgd chooses its own number of steps; leave it out");
  expect_message(
      "train census.csv --schema schema.toml --epsilon 4 --delta 1e-6 --steps 200 --out never",
      "plan: steps: method auto chooses its own number of steps; leave it out, or name a method that "
      "takes it: --method dpsgd");
}

TEST_F(PlanCommand, ReadsNoRow) {
  const Finished text = run("plan --plan plan.toml --data nowhere.csv");
  EXPECT_EQ(text.exit_code, 0);
  EXPECT_THAT(text.out, HasSubstr("No row was read."));
  EXPECT_THAT(text.out, HasSubstr("2000, declared"));
  EXPECT_EQ(run("plan nowhere.csv --plan plan.toml").out, text.out);  // the words of train, more or less
}

TEST_F(PlanCommand, SaysWhatTrainWillDo) {
  const json plan = ask("plan --plan plan.toml");
  const json done = ask("train census.csv --plan plan.toml --out as-planned");
  for (const auto& [key, value] : plan.items()) {
    if (key != "seconds") {
      EXPECT_EQ(done[key], value) << key;
    }
  }
}

TEST_F(PlanCommand, AFlagWinsOverAFileThatSaysItInAnotherWay) {
  write("epochs.toml", "rows = 2000\nmethod = 'dpsgd'\nepsilon = 1\ndelta = 1e-6\nbatch = 100\nepochs = 3\n");
  EXPECT_EQ(ask("plan --plan epochs.toml")["steps"], 60);
  EXPECT_EQ(ask("plan --plan epochs.toml --steps 11")["steps"], 11);
  EXPECT_EQ(ask("plan --plan epochs.toml --rate 0.5")["steps"], 6);
  EXPECT_EQ(ask("plan --plan plan.toml --rate 0.5 --epochs 4")["steps"], 8);
}

TEST_F(PlanCommand, WarnsOfADeltaThatPromisesNothing) {
  EXPECT_THAT(run("plan --plan plan.toml --delta 1e-3").out, HasSubstr("caution"));
  EXPECT_THAT(run("plan --plan plan.toml --delta 1e-4").out, Not(HasSubstr("caution")));
  // Without a number of rows, by itself.
  EXPECT_THAT(run("plan --epsilon 1 --delta 0.01").out,
              HasSubstr("caution     delta 0.01 is above 0.0001, and how many rows there are is not known"));
  EXPECT_THAT(run("plan --epsilon 1 --delta 1e-4").out, Not(HasSubstr("caution")));
}

TEST_F(PlanCommand, RefusesLikeTrain) {
  EXPECT_EQ(run("plan --plan plan.toml --noise 0.5").exit_code, 2);
  expect_message("plan --plan plan.toml --accountant gdp --rate 0.1", "gdp only approximates this plan");
  expect_message("plan --plan plan.toml --model squared", "squared");
}

}  // namespace
}  // namespace ration::testing
