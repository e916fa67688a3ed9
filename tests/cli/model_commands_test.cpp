#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>

#include "cli/refusal.h"
#include "cli/saved_run.h"
#include "data/content_hash.h"
#include "ration/privacy/certificate.h"
#include "ration/privacy/ledger.h"
#include "support/ration_command.h"

namespace ration::testing {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

class ModelCommands : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { shared_ = std::make_unique<CensusRun>(); }
  static void TearDownTestSuite() { shared_.reset(); }

  const CensusRun& census() const { return *shared_; }
  json ask(const std::string& line) const { return ration_json(line, census().path()); }
  Finished run(const std::string& line) const { return run_ration(line, census().path()); }
  void expect_message(const std::string& line, const std::string& message) const {
    SCOPED_TRACE(line);
    expect_refused(run(line), message);
  }
  // A fresh ledger that knows test.csv.
  std::string make_ledger(const std::string& name, double epsilon, Relation relation = Relation::add_remove) {
    Ledger ledger = Ledger::open_or_create(census().path() + "/" + name);
    ledger.add({.hash = data::content_hash(census().path() + "/test.csv"),
                .name = "census",
                .relation = relation,
                .total = {epsilon, 0}});
    return ledger.path();
  }

 private:
  static std::unique_ptr<CensusRun> shared_;
};

std::unique_ptr<CensusRun> ModelCommands::shared_;

// A folder with a census of 300 people, held_out.csv with 200 more, budget.db and run, trained by the
// program.
class TrainedRun : public ::testing::Test {
 protected:
  static constexpr const char* kTrain =
      "train census.csv --schema census.toml --rows 300 --epsilon 0.5 --delta 1e-6 --method dpsgd --steps 5 "
      "--quiet ";

  TrainedRun() {
    write_census("census.csv", 300, 1);
    write_census("held_out.csv", 200, 2);
    folder_.write("census.toml", to_toml(data::census_schema()));
  }
  void write_census(const std::string& name, std::size_t rows, std::uint64_t seed) const {
    std::ofstream out(folder_.path() + "/" + name);
    data::write_census(out, rows, seed);
  }
  void make_ledger() const {
    for (const char* const data : {"census.csv", "held_out.csv"})
      succeed(std::string("ledger init budget.db --data ") + data + " --epsilon 1 --delta 1e-5");
  }
  Finished run(const std::string& line) const { return run_ration(line, folder_.path()); }
  void succeed(const std::string& line) const {
    const Finished done = run(line);
    ASSERT_EQ(done.exit_code, 0) << line << "\n" << done.err;
  }
  void move(const std::string& from, const std::string& to) const {
    std::filesystem::rename(folder_.path() + "/" + from, folder_.path() + "/" + to);
  }
  // Of each data set, in the order they were added, to six places.
  std::vector<double> left(const std::string& ledger = "budget.db") const {
    std::vector<double> left;
    for (const LedgerState& state : Ledger(folder_.path() + "/" + ledger).states())
      left.push_back(std::round(1e6 * state.remaining.epsilon) / 1e6);
    return left;
  }

  TemporaryFolder folder_;
};

// Rows that a ledger keeps account of stay in it, whatever the command line forgets.
TEST_F(TrainedRun, APrivateEvaluationChargesTheLedgerOfTheRun) {
  make_ledger();
  succeed(std::string(kTrain) + "--ledger budget.db --out run");
  ASSERT_THAT(left(), ElementsAre(0.5, 1));
  const json found = ration_json("evaluate run --data held_out.csv --epsilon 0.25", folder_.path());
  EXPECT_EQ(found.at("ledger").at("run"), 2);
  EXPECT_THAT(left(), ElementsAre(0.5, 0.75));
  succeed("evaluate run/model.json --data held_out.csv --epsilon 0.25");
  succeed("evaluate run --data census.csv --epsilon 0.25");
  EXPECT_THAT(left(), ElementsAre(0.25, 0.5));
  EXPECT_EQ(run("evaluate run --data census.csv --epsilon 0.5").exit_code, 2);
  EXPECT_THAT(left(), ElementsAre(0.25, 0.5));
  succeed("evaluate run --data census.csv --epsilon 0.5 --no-ledger");
  EXPECT_THAT(left(), ElementsAre(0.25, 0.5));
}

TEST_F(TrainedRun, TheLedgerIsFoundFromElsewhereAndAfterAMove) {
  make_ledger();
  succeed(std::string(kTrain) + "--ledger budget.db --out run");
  const std::string line = " --data " + folder_.path() + "/held_out.csv --epsilon 0.125";
  const Finished from_elsewhere = run_ration("evaluate " + folder_.path() + "/run" + line, "/");
  EXPECT_EQ(from_elsewhere.exit_code, 0) << from_elsewhere.err;
  EXPECT_THAT(left(), ElementsAre(0.5, 0.875));
  std::filesystem::create_directory(folder_.path() + "/moved");
  for (const char* const name : {"run", "budget.db"}) move(name, std::string("moved/") + name);
  succeed("evaluate moved/run" + line);
  EXPECT_THAT(left("moved/budget.db"), ElementsAre(0.5, 0.75));
}

TEST_F(TrainedRun, ALedgerThatIsNotToBeFoundIsAskedFor) {
  make_ledger();
  succeed(std::string(kTrain) + "--ledger budget.db --out run");
  move("budget.db", "renamed.db");
  const std::string line = "evaluate run --data held_out.csv --epsilon 0.25";
  expect_refused(run(line),
                 "budget.db (run 1), which is not to be found; name it by --ledger FILE, or give "
                 "--no-ledger if nobody keeps account of these rows");
  // Another ledger of the same name is not the run's.
  make_ledger();
  expect_refused(run(line), "which is not to be found");
  succeed(line + " --ledger renamed.db");
  EXPECT_THAT(left("renamed.db"), ElementsAre(0.5, 0.75));
  succeed(line + " --no-ledger");
  EXPECT_THAT(left("renamed.db"), ElementsAre(0.5, 0.75));
  EXPECT_THAT(left(), ElementsAre(1, 1));
  expect_refused(run(line + " --no-ledger --ledger renamed.db"),
                 "expected --ledger or --no-ledger, got both");
  expect_refused(run("evaluate run --data held_out.csv --public --no-ledger"), "--no-ledger goes with");
}

TEST_F(TrainedRun, RowsThatTheRunsLedgerDoesNotKnowAreAskedAbout) {
  make_ledger();
  succeed(std::string(kTrain) + "--ledger budget.db --out run");
  write_census("new.csv", 100, 3);
  expect_refused(run("evaluate run --data new.csv --epsilon 0.25"),
                 "the run's ledger has no budget for new.csv; give it one by 'ration ledger init'");
  succeed("evaluate run --data new.csv --epsilon 0.25 --no-ledger");
}

TEST_F(TrainedRun, WithoutALedgerNothingIsAsked) {
  succeed(std::string(kTrain) + "--out run");
  const json found = ration_json("evaluate run --data held_out.csv --epsilon 0.25", folder_.path());
  EXPECT_TRUE(found.at("ledger").is_null());
}

// --- rows of the run are not public

TEST_F(TrainedRun, ItsRowsAreNotPublic) {
  make_ledger();
  write_census("public.csv", 100, 3);
  for (const std::string& ledger : {std::string(), std::string("--ledger budget.db ")}) {
    SCOPED_TRACE(ledger);
    std::filesystem::remove_all(folder_.path() + "/run");
    succeed(kTrain + ledger + "--out run");
    std::filesystem::copy_file(folder_.path() + "/census.csv", folder_.path() + "/copy.csv",
                               std::filesystem::copy_options::overwrite_existing);
    for (const char* const data : {"census.csv", "copy.csv"}) {
      expect_refused(run(std::string("evaluate run --data ") + data + " --public"),
                     std::string(data) + ": not public: the run in ");
      expect_refused(run(std::string("evaluate run/model.json --data ") + data + " --public"),
                     "was trained on these very rows with privacy");
    }
    succeed("evaluate run --data public.csv --public");
  }
}

// What has a budget in the run's ledger is private, whoever used it; another ledger has to be named.
TEST_F(TrainedRun, RowsThatALedgerKnowsAreNotPublic) {
  make_ledger();
  write_census("public.csv", 100, 3);
  succeed(std::string(kTrain) + "--ledger budget.db --out run");
  const std::string line = "evaluate run --public --data ";
  expect_refused(run(line + "held_out.csv"),
                 "budget.db has a budget for these rows; measure on them by --epsilon EPSILON");
  succeed(line + "public.csv");
  succeed(line + "public.csv --ledger budget.db");
  succeed("ledger init other.db --data public.csv --epsilon 1 --delta 1e-5");
  expect_refused(run(line + "public.csv --ledger other.db"),
                 "public.csv: not public: other.db has a budget for these rows");
  expect_refused(run(line + "public.csv --ledger none.db"), "create it with 'ration ledger init'");
  succeed(std::string(kTrain) + "--out alone");
  succeed("evaluate alone --public --data held_out.csv");
  expect_refused(run("evaluate alone --public --data held_out.csv --ledger budget.db"), "not public");
  expect_refused(run("evaluate alone --public --data /dev/null --ledger budget.db"),
                 "/dev/null: expected a file");
}

// Each of the two ways by itself: the certificate with its ledger, and the mark of whoever trained it.
TEST_F(TrainedRun, ItsRowsAreKnownByTheLedgerOrByTheUser) {
  make_ledger();
  succeed(std::string(kTrain) + "--ledger budget.db --out run");
  const std::string line = "evaluate run --data census.csv --public";
  move("budget.db", "gone.db");
  expect_refused(run(line), "not public");  // by the user
  move("gone.db", "budget.db");
  std::filesystem::remove(folder_.path() + "/run/private-rows.json");
  expect_refused(run(line), "not public");  // by the ledger
  move("budget.db", "gone.db");
  succeed(line);  // nobody can tell any more
}

TEST_F(TrainedRun, ThePlainHashOfACertificateIsEnough) {
  succeed(std::string(kTrain) + "--data-hash --out run");
  std::filesystem::remove(folder_.path() + "/run/private-rows.json");
  expect_refused(run("evaluate run --data census.csv --public"), "not public");
}

TEST_F(TrainedRun, WhatPromisedNothingMayBeMeasuredOnItsRows) {
  succeed(
      "train census.csv --schema census.toml --rows 300 --epsilon 0.5 --delta 1e-6 --method nonprivate "
      "--quiet --out run");
  succeed("evaluate run --data census.csv --public");
}

using EvaluateCommand = ModelCommands;
using PredictCommand = ModelCommands;

TEST_F(EvaluateCommand, OnPublicRowsItIsExact) {
  const Evaluation exact = evaluate_public(census().model(), census().table());
  const json found = ask("evaluate run --data test.csv --public");
  EXPECT_EQ(found.at("accuracy"), *exact.accuracy);
  EXPECT_EQ(found.at("loss"), exact.loss);
  EXPECT_EQ(found.at("rows"), 3000);
  EXPECT_EQ(found.at("model"), "run");
  EXPECT_EQ(found.at("public"), true);
  EXPECT_GT(found.at("seconds"), 0.0);
  EXPECT_FALSE(found.contains("epsilon"));
  EXPECT_GT(*exact.accuracy, 0.8);
  EXPECT_THAT(run("evaluate run/model.json --data test.csv --public").out, HasSubstr("logistic loss 0."));
}

// A class that nobody predicts is seen in its recall, not in the accuracy.
TEST_F(EvaluateCommand, TellsEachClassByItself) {
  const json found = ask("evaluate run --data test.csv --public");
  const data::Table table = census().table();
  const std::vector<double> said = predict(census().model(), table);
  const auto labels = table.rows.labels();
  double rows = 0, right = 0;
  for (std::size_t i = 0; i < said.size(); ++i) {
    rows += labels[i];
    right += said[i] * labels[i];
  }
  EXPECT_EQ(found.at("majority"), std::max(rows, 3000 - rows) / 3000);
  EXPECT_EQ(found.at("recall").at("high"), right / rows);
  EXPECT_GT(found.at("recall").at("low"), 0.5);
  EXPECT_EQ(found.at("recall").size(), 2u);
  EXPECT_THAT(
      run("evaluate run --data test.csv --public").out,
      AllOf(HasSubstr("\nthe most frequent class alone: accuracy 0."), HasSubstr("\nrecall: low 0.")));
  const std::vector<std::string> lines = lines_of(read_whole_file(census().path() + "/test.csv"));
  std::string low = lines[0] + "\n";
  for (const std::string& line : lines) low += line.ends_with(",low") ? line + "\n" : "";
  census().write("low.csv", low);
  EXPECT_TRUE(ask("evaluate run --data low.csv --public").at("recall").at("high").is_null());
  EXPECT_THAT(run("evaluate run --data low.csv --public").out, HasSubstr(", high no rows\n"));
}

// The schema is the model's: nobody can change it any more.
class RowsForAModel : public ModelCommands {
 protected:
  RowsForAModel() {
    lines_ = lines_of(read_whole_file(census().path() + "/test.csv"));
    lines_.resize(4);
  }
  // The census' first columns are age and work, and its last one the label.
  void spoil(std::size_t line, const std::string& age, const std::string& work, const std::string& income) {
    std::string& text = lines_[line];
    const std::size_t first = text.find(','), second = text.find(',', first + 1), last = text.rfind(',');
    text = age + "," + work + text.substr(second, last - second) + "," + income;
  }
  void write(const std::string& name) const {
    std::string text;
    for (const std::string& line : lines_) text += line + "\n";
    census().write(name, text);
  }

  static constexpr const char* kAdvice =
      "the model's schema is fixed: mend the row, or use --on-bad-row clamp\n";
  std::vector<std::string> lines_;
};

TEST_F(RowsForAModel, AreMendedOrClamped) {
  spoil(1, "212", "private", "low");
  write("old.csv");
  for (const char* const command : {"predict run --data old.csv", "evaluate run --data old.csv --public"}) {
    const Finished refused = run(command);
    expect_refused(refused, "old.csv:2: column 'age': value 212 is outside the public bounds");
    EXPECT_THAT(refused.err, EndsWith(std::string("]; ") + kAdvice));
    EXPECT_EQ(run(std::string(command) + " --on-bad-row clamp").exit_code, 0);
  }
  spoil(2, "30", "pirate", "low");
  write("two.csv");
  const Finished refused = run("predict run --data two.csv");
  EXPECT_THAT(lines_of(refused.err), ElementsAre(EndsWith("]"), EndsWith("is none of the 5 categories"),
                                                 std::string("ration: ") + std::string(kAdvice).substr(
                                                                               0, std::strlen(kAdvice) - 1)));
  EXPECT_EQ(lines_of(run("predict run --data two.csv --on-bad-row clamp").out).size(), 4u);
  census().write("more.csv", "height," + lines_[0] + "\n");
  expect_message("predict run --data more.csv",
                 "'height': in the header but not in the schema; the model's schema is fixed: mend the file");
}

// Line by line: no prediction may be missing.
TEST_F(RowsForAModel, EachHasItsPrediction) {
  spoil(1, "212", "private", "low");
  lines_[3] = "17,x";
  write("short.csv");
  expect_message("predict run --data short.csv --on-bad-row clamp",
                 "short.csv: nothing can be predicted for 1 of the rows");
  expect_message("predict run --data test.csv --on-bad-row drop",
                 "--on-bad-row: expected refuse or clamp, got 'drop': every row gets its prediction");
}

TEST_F(RowsForAModel, WhatIsLeftOutOfAnEvaluationIsSaid) {
  spoil(1, "212", "private", "low");
  lines_[3] = "17,x";
  write("left.csv");
  const json clamped = ask("evaluate run --data left.csv --public --on-bad-row clamp");
  EXPECT_EQ(clamped.at("rows"), 2);
  EXPECT_EQ(clamped.at("left_out"), 1);
  const Finished dropped = run("evaluate run --data left.csv --public --on-bad-row drop");
  EXPECT_THAT(dropped.out, HasSubstr("on 1 public rows; 2 more broke the schema and are left out\n"));
  spoil(2, "212", "private", "low");
  write("none_left.csv");
  expect_message("evaluate run --data none_left.csv --public --on-bad-row drop",
                 "none_left.csv: all 3 rows break the model's schema");
}

// Noise of scale 0.02 on two counts: they are off by more than 1.2 together with probability below 1e-20, and
// two releases agree to the last step of the grid with probability below 1e-7.
TEST_F(EvaluateCommand, OnPrivateRowsItIsNoisy) {
  const Evaluation exact = evaluate_public(census().model(), census().table());
  const json found = ask("evaluate run --data test.csv --epsilon 100 --relation replace_one");
  EXPECT_NEAR(found.at("accuracy"), *exact.accuracy, 1e-3);
  EXPECT_NEAR(found.at("rows"), 3000, 1.2);
  EXPECT_NE(found.at("rows"), 3000);
  EXPECT_EQ(found.at("epsilon"), 100.0);
  EXPECT_EQ(found.at("delta"), 0);
  EXPECT_EQ(found.at("relation"), "replace_one");
  EXPECT_NEAR(found.at("noise_scale"), 0.02, 1e-4);
  EXPECT_TRUE(found.at("ledger").is_null());
  for (const char* key : {"loss", "seconds"}) EXPECT_FALSE(found.contains(key)) << key;
  const json again = ask("evaluate run --data test.csv --epsilon 100");
  EXPECT_NE(again.at("rows"), found.at("rows"));
  EXPECT_EQ(again.at("relation"), "add_remove");
  EXPECT_THAT(run("evaluate run --data test.csv --epsilon 100").out, HasSubstr("no ledger kept account"));
}

TEST_F(EvaluateCommand, ChargesTheLedgerAndIsRefusedWhenItIsSpent) {
  const std::string path = make_ledger("once.db", 0.25);
  const json found = ask("evaluate run --data test.csv --epsilon 0.2 --ledger once.db");
  EXPECT_EQ(found.at("ledger").at("file"), "once.db");
  EXPECT_EQ(found.at("ledger").at("run"), 1);
  EXPECT_EQ(found.at("ledger").at("epsilon_remaining"), 0.05);
  const Finished refused = run("evaluate run --data test.csv --epsilon 0.2 --ledger once.db --json");
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_EQ(refused.out, "");
  EXPECT_EQ(refused.err,
            "ration: once.db: evaluating on test.csv needs epsilon 0.2, but only 0.05 is left\n");
  const std::vector<LedgerRun> runs = Ledger(path).runs();
  ASSERT_EQ(runs.size(), 1u);
  EXPECT_EQ(runs[0].status, RunStatus::settled);
  EXPECT_EQ(runs[0].charged.epsilon, 0.2);
  EXPECT_EQ(runs[0].charged.delta, 0);
}

// Whoever shows the figure can show what it cost, and anybody can check that.
TEST_F(EvaluateCommand, OnPrivateRowsItComesWithACertificate) {
  const std::string path = make_ledger("certified.db", 1);
  const json found = ask("evaluate run --data test.csv --epsilon 0.3 --ledger certified.db --out eval");
  EXPECT_EQ(found.at("out"), "eval");
  const Certificate certificate =
      certificate_from_json(read_whole_file(census().path() + "/eval/certificate.json"));
  EXPECT_EQ(certificate.epsilon, 0.3);
  EXPECT_EQ(certificate.delta, 0);
  ASSERT_EQ(certificate.events.size(), 1u);
  EXPECT_THAT(certificate.events[0].event.describe(), HasSubstr("aplace"));
  EXPECT_THAT(certificate.assumed_public, Contains(HasSubstr("the model: it was made without these rows")));
  ASSERT_TRUE(certificate.ledger);
  EXPECT_EQ(certificate.ledger->run, 1);
  EXPECT_EQ(certificate.data_hash, "hmac-sha256 " + Ledger(path).runs().at(0).data_hash);
  EXPECT_TRUE(verify(certificate).holds());
  EXPECT_EQ(run("verify eval").exit_code, 0);
  const json written = json::parse(read_whole_file(census().path() + "/eval/evaluation.json"));
  for (const char* key : {"accuracy", "rows", "noise_scale", "epsilon"})
    EXPECT_EQ(written.at(key), found.at(key)) << key;
  expect_message("evaluate run --data test.csv --epsilon 0.3 --ledger certified.db --out eval",
                 "eval/certificate.json: would be overwritten");
  EXPECT_EQ(Ledger(path).runs().size(), 1u);
}

// Each beside the run it is of; a model file alone has no such place.
TEST_F(EvaluateCommand, EveryPrivateEvaluationOfARunIsKeptBesideIt) {
  const std::string first = ask("evaluate run --data test.csv --epsilon 1").at("out");
  const std::string second = ask("evaluate run --data test.csv --epsilon 1").at("out");
  EXPECT_NE(first, second);
  for (const std::string& folder : {first, second}) {
    EXPECT_THAT(folder, HasSubstr("run/evaluation-"));
    EXPECT_EQ(run("verify " + folder).exit_code, 0) << folder;
  }
  EXPECT_TRUE(ask("evaluate run/model.json --data test.csv --epsilon 1").at("out").is_null());
  const Finished failed = run("evaluate run --data none.csv --epsilon 1 --out gone");
  EXPECT_EQ(failed.exit_code, 1);
  EXPECT_FALSE(std::filesystem::exists(census().path() + "/gone"));
}

// The charge comes before the rows; if they cannot be read nothing was released, and it goes back.
TEST_F(EvaluateCommand, RowsThatCannotBeReadCostNothing) {
  const std::string bad = census().write("bad.csv", "age\n17\n");
  const std::string path = make_ledger("bad.db", 1);
  {
    Ledger ledger(path);
    ledger.add({.hash = data::content_hash(bad), .name = "bad", .total = {1, 0}});
  }
  expect_message("evaluate run --data bad.csv --epsilon 0.25 --ledger bad.db", "missing from the header");
  EXPECT_EQ(Ledger(path).runs().at(0).reserved.epsilon, 0.25);
  EXPECT_EQ(Ledger(path).runs().at(0).charged.epsilon, 0);
  EXPECT_EQ(Ledger(path).runs().at(0).status, RunStatus::settled);
}

// What rows hold is another matter: a refusal tells it.
TEST_F(EvaluateCommand, ARefusalBecauseOfRowsIsPaidFor) {
  std::string text = read_whole_file(census().path() + "/test.csv");
  const std::string bad = census().write("old.csv", text + "300,x\n");
  const std::string path = make_ledger("old.db", 1);
  {
    Ledger ledger(path);
    ledger.add({.hash = data::content_hash(bad), .name = "old", .total = {1, 0}});
  }
  const Finished refused = run("evaluate run --data old.csv --epsilon 0.25 --ledger old.db");
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.err, HasSubstr("expected 10 fields, got 2\n"));
  EXPECT_THAT(refused.err, HasSubstr("ration: NOT PRIVATE"));
  EXPECT_THAT(refused.err, HasSubstr("the reserved budget stays spent (run 1 of old.db)"));
  EXPECT_EQ(Ledger(path).runs().at(0).charged.epsilon, 0.25);
  EXPECT_EQ(Ledger(path).runs().at(0).status, RunStatus::abandoned);
  EXPECT_THAT(refused.err, HasSubstr("lost or bent silently; the model's schema is fixed"));
  EXPECT_EQ(run("evaluate run --data old.csv --epsilon 0.25 --ledger old.db --on-bad-row drop").exit_code, 0);
}

// A wrong flag, a model that cannot be read, or a wrong relation costs nothing.
TEST_F(EvaluateCommand, WhatIsRefusedBeforeTheRowsIsNotCharged) {
  const std::string path = make_ledger("kept.db", 1, Relation::replace_one);
  expect_message("evaluate none --data test.csv --epsilon 0.1 --ledger kept.db", "none: cannot read");
  expect_message("evaluate run --data test.csv --epsilon 5000 --ledger kept.db",
                 "expected 1e-06 <= epsilon <= 1000");
  expect_message("evaluate run --data test.csv --epsilon 0.1 --ledger kept.db",
                 "for relation replace_one, the run is for add_remove");
  expect_message("evaluate run --data run/model.json --epsilon 0.1 --ledger kept.db", "kept.db: ");
  EXPECT_TRUE(Ledger(path).runs().empty());
  EXPECT_EQ(ask("evaluate run --data test.csv --epsilon 0.1 --ledger kept.db --relation replace_one")
                .at("ledger")
                .at("run"),
            1);
}

TEST_F(EvaluateCommand, NumbersHaveAnErrorButNoPrivateAccuracy) {
  Model price;
  price.loss = GlmLoss::squared;
  price.classes = 0;
  price.schema = data::parse_schema(
      "label = \"price\"\ncolumns = [{ name = \"x\", type = \"number\", low = 0, high = 1 },\n"
      "{ name = \"price\", type = \"number\", low = 0, high = 100 }]\n");
  price.weights = {10, 20.25};
  census().save("price", price);
  census().write("price.csv", "x,price\n0,23.25\n1,26.25\n");
  const json found = ask("evaluate price --data price.csv --public");
  EXPECT_NEAR(found.at("root_mean_square_error"), std::sqrt(12.5), 1e-12);
  EXPECT_FALSE(found.contains("accuracy"));
  EXPECT_THAT(run("evaluate price --data price.csv --public").out,
              StartsWith("root mean square error 3.53553, squared loss 6.25, on 2 public rows"));
  expect_message("evaluate price --data price.csv --epsilon 1", "label 'price' is a number");
  EXPECT_EQ(run("predict price --data price.csv").out, "prediction\n20.25\n30.25\n");
  EXPECT_EQ(ask("predict price --data price.csv").at("predictions"), json({20.25, 30.25}));
}

TEST_F(EvaluateCommand, WrongInputIsOneLine) {
  census().write("corrupt.json", to_json(census().model()).substr(0, 500));
  expect_message("evaluate", "evaluate: which model?");
  expect_message("evaluate run --public", "--data is needed");
  expect_message("evaluate run --data test.csv", "evaluate: are these rows public? Give --public");
  expect_message("evaluate run --data test.csv --public --epsilon 1", "one of the two");
  expect_message("evaluate run --data test.csv --public --ledger a.db", "a.db: cannot open the ledger");
  expect_message("evaluate run --data test.csv --public --on-bad-row bend", "--on-bad-row: expected one of");
  expect_message("evaluate run --data test.csv --public --out there", "--out goes with --epsilon");
  expect_message("evaluate run --data test.csv --public --relation add_remove", "--relation goes with");
  expect_message("evaluate run --data test.csv --epsilon 0", "--epsilon: expected epsilon > 0, got '0'");
  expect_message("evaluate run --data test.csv --epsilon 1 --relation swap",
                 "expected one of add_remove, replace_one");
  expect_message("evaluate run --data test.csv --epsilon 1 --ledger none.db", "none.db: cannot open");
  expect_message("evaluate run --data test.csv --pubic",
                 "evaluate: unknown flag '--pubic'; did you mean '--public'?");
  expect_message("evaluate . --data test.csv --public", ".: no model.json in this folder");
  expect_message("evaluate corrupt.json --data test.csv --public", "corrupt.json:");
  expect_message("evaluate test.csv --data test.csv --public", "test.csv:1: not valid JSON");
  expect_message("evaluate run --data none.csv --public", "none.csv: cannot read");
  census().write("unlabelled.csv", "age\n17\n");
  expect_message("evaluate run --data unlabelled.csv --public", "missing from the header");
}

TEST_F(PredictCommand, NamesTheClasses) {
  const std::vector<double> exact = predict(census().model(), census().table());
  const std::vector<std::string> lines = lines_of(run("predict run --data test.csv").out);
  ASSERT_EQ(lines.size(), 3001u);
  EXPECT_EQ(lines[0], "prediction");
  for (std::size_t i = 0; i < exact.size(); ++i) ASSERT_EQ(lines[i + 1], exact[i] == 1 ? "high" : "low") << i;
  const json found = ask("predict run --data test.csv");
  EXPECT_EQ(found.at("rows"), 3000);
  ASSERT_EQ(found.at("predictions").size(), 3000u);
  for (std::size_t i = 0; i < exact.size(); ++i) ASSERT_EQ(found.at("predictions").at(i), lines[i + 1]);
}

// The label is the census' last column.
TEST_F(PredictCommand, NeedsNoLabels) {
  std::string unlabelled;
  for (const std::string& line : lines_of(read_whole_file(census().path() + "/test.csv")))
    unlabelled += line.substr(0, line.rfind(',')) + "\n";
  census().write("new.csv", unlabelled);
  EXPECT_EQ(run("predict run --data new.csv").out, run("predict run --data test.csv").out);
}

TEST_F(PredictCommand, EncodesRowsByTheKnotsOfTheModel) {
  Model model;
  model.schema = data::parse_schema(R"(
label = "kind"
columns = [
  { name = "x", type = "number", low = 0, high = 8, knots = [2, 4] },
  { name = "kind", type = "category", categories = ["low", "high"] },
])");
  model.weights = {0, 2, 0, -1};  // high where the hat at 2 is above 1/2: from 1 to 3
  census().save("curve", model);
  census().write("x.csv", "x,kind\n0,low\n0.9,low\n1.1,high\n2,high\n2.9,high\n3.1,low\n8,high\n");
  EXPECT_EQ(run("predict curve --data x.csv").out, "prediction\nlow\nlow\nhigh\nhigh\nhigh\nlow\nlow\n");
  EXPECT_NEAR(ask("evaluate curve --data x.csv --public").at("accuracy").get<double>(), 6.0 / 7, 1e-12);
}

TEST_F(PredictCommand, WritesAFileWholeOrNotAtAll) {
  const std::string expected = run("predict run --data test.csv").out;
  EXPECT_EQ(run("predict run --data test.csv --out predictions.csv").out, "");
  EXPECT_EQ(read_whole_file(census().path() + "/predictions.csv"), expected);
  const json found = ask("predict run --data test.csv --out again.csv");
  EXPECT_EQ(found.at("out"), "again.csv");
  EXPECT_EQ(read_whole_file(census().path() + "/again.csv"), expected);
  expect_message("predict run --data none.csv --out predictions.csv", "none.csv: cannot read");
  EXPECT_EQ(read_whole_file(census().path() + "/predictions.csv"), expected);
  expect_message("predict run --data test.csv --out no/folder.csv", "no/folder.csv: cannot write");
}

TEST_F(PredictCommand, QuotesWhatCsvWouldMisread) {
  Model model;
  model.loss = GlmLoss::softmax;
  model.classes = 5;
  model.schema = data::parse_schema(R"(
label = "kind"
bias = false
columns = [
  { name = "x", type = "category", categories = ["0", "1", "2", "3", "4"] },
  { name = "kind", type = "category", categories = ["plain", "a,b", "say \"hi\"", "", " wide "] },
])");
  for (std::size_t c = 0; c < 5; ++c) {
    for (std::size_t x = 0; x < 5; ++x) model.weights.push_back(c == x ? 1 : 0);
  }
  census().save("kinds", model);
  census().write("kinds.csv", "x\n0\n1\n2\n3\n4\n");
  const std::string csv = run("predict kinds --data kinds.csv").out;
  EXPECT_EQ(csv, "prediction\nplain\n\"a,b\"\n\"say \"\"hi\"\"\"\n\"\"\n\" wide \"\n");
  EXPECT_EQ(ask("predict kinds --data kinds.csv").at("predictions").at(2), "say \"hi\"");
}

TEST_F(PredictCommand, WrongInputIsOneLine) {
  std::vector<std::string> lines = lines_of(read_whole_file(census().path() + "/test.csv"));
  const std::size_t at = lines[1].find(',');
  lines[1].replace(at, lines[1].find(',', at + 1) - at + 1, ",pirate,");
  census().write("pirate.csv", lines[0] + "\n" + lines[1] + "\n");
  expect_message("predict run --data pirate.csv",
                 "pirate.csv:2: column 'work': value 'pirate' is none of the 5 categories");
  expect_message("predict", "predict: which model?");
  expect_message("predict run", "--data is needed");
  expect_message("predict none --data test.csv", "none: cannot read: No such file");
  expect_message("predict run --data test.csv --epsilon 1", "predict: unknown flag '--epsilon'");
  expect_message("predict run --data test.csv more", "predict: unexpected word 'more'; see 'ration predict");
  expect_message("predict run test.csv",
                 "predict: unexpected word 'test.csv'; did you mean --data test.csv?");
  census().write("strange.csv", "age,height\n17,180\n");
  expect_message("predict run --data strange.csv",
                 "strange.csv:1: column 'height': in the header but not in");
}

TEST_F(ModelCommands, SchemaDraftsWhatReadsTheFile) {
  const json found = ask("schema test.csv --target income");
  EXPECT_EQ(found.at("private"), false);
  EXPECT_EQ(found.at("file"), "test.csv");
  EXPECT_THAT(found.at("warning").get<std::string>(), HasSubstr("WITHOUT PRIVACY"));
  const data::Schema schema = data::parse_schema(found.at("schema").get<std::string>());
  EXPECT_EQ(data::read_table(census().path() + "/test.csv", schema).rows.count(), 3000u);
  const Finished shown = run("schema test.csv --target income");
  EXPECT_EQ(shown.out, found.at("schema"));
  EXPECT_THAT(shown.out, StartsWith("# DRAFT, READ WITHOUT PRIVACY."));
  EXPECT_THAT(shown.err, StartsWith("ration: warning: test.csv was read WITHOUT PRIVACY"));
}

TEST_F(ModelCommands, SchemaTakesNamesFromAFile) {
  census().write("bare.csv", "1,a\n2,b\n");
  census().write("names.txt", "x\nkind\n");
  const data::Schema schema = data::parse_schema(run("schema bare.csv --target kind --names names.txt").out);
  EXPECT_FALSE(schema.header);
  EXPECT_EQ(schema.columns[1].categories, (std::vector<std::string>{"a", "b"}));
}

TEST_F(ModelCommands, SchemaRefusesWrongInputInOneLine) {
  census().write("bare.csv", "1,a\n2,b\n");
  expect_message("schema", "schema: which file?");
  expect_message("schema test.csv", "--target is needed: the column to predict");
  expect_message("schema none.csv --target x", "none.csv: cannot read");
  expect_message("schema bare.csv --target kind",
                 "target 'kind' is none of the columns: 1, a; if the first line");
  expect_message("schema bare.csv --target kind", "for 'ration schema --names FILE'");
  expect_message("schema bare.csv --target kind --names none.txt", "none.txt: cannot read");
  expect_message("schema test.csv --target income --epsilon 1", "schema: unknown flag '--epsilon'");
}

TEST_F(ModelCommands, HelpHasExamples) {
  for (const char* command : {"schema", "predict", "evaluate"}) {
    const Finished finished = run(std::string(command) + " --help");
    EXPECT_EQ(finished.exit_code, 0) << command;
    EXPECT_THAT(finished.out, HasSubstr(std::string("Examples:\n  ration ") + command)) << command;
  }
}

}  // namespace
}  // namespace ration::testing
