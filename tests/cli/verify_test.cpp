// Whatever is changed about a run after it ended, `ration verify` says so.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>

#include "cli/refusal.h"
#include "ration/data/census.h"
#include "ration/privacy/certificate.h"
#include "ration/train/model.h"
#include "ration/train/plan.h"
#include "support/child_process.h"
#include "support/ration_command.h"

namespace ration::testing {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// As `openssl genpkey -algorithm ed25519` made them, for these tests.
constexpr const char* kPrivateKey =
    "-----BEGIN PRIVATE KEY-----\n"
    "MC4CAQAwBQYDK2VwBCIEIEzNCJso/5banbbDRuwRTg9bijGfNaumJNqM9u1PuKb7\n"
    "-----END PRIVATE KEY-----\n";
constexpr const char* kPublicKey =
    "-----BEGIN PUBLIC KEY-----\n"
    "MCowBQYDK2VwAyEAPUAXw+hDiVqStwqnTRt+vJyYLM8uxJaMwM1V8Sr0Zgw=\n"
    "-----END PUBLIC KEY-----\n";
constexpr const char* kOtherPublicKey =
    "-----BEGIN PUBLIC KEY-----\n"
    "MCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=\n"
    "-----END PUBLIC KEY-----\n";

// A folder with census.csv, budget.db, the keys and three runs: `fixed` by a plan, `adaptive` by its outputs,
// both in the ledger, and `bare`, without one but with the hash of its rows.
class Runs {
 public:
  Runs() {
    for (const char* const name : {"census.csv", "other.csv"}) {
      std::ofstream rows(path() + "/" + name);
      data::write_census(rows, 400, name[0] == 'c' ? 1 : 2);
    }
    folder_.write("census.toml", to_toml(data::census_schema()));
    folder_.write("key.pem", kPrivateKey);
    folder_.write("key.pub", kPublicKey);
    folder_.write("other.pub", kOtherPublicKey);
    const std::string all =
        " --data census.csv --schema census.toml --rows 400 --epsilon 2 --delta 1e-6 --out ";
    made_ = does("ledger init budget.db --data census.csv --epsilon 9 --delta 1e-4") &&
            does("train --method dpsgd --steps 10 --ledger budget.db" + all + "fixed") &&
            does("train --method blsgd --ledger budget.db" + all + "adaptive") &&
            does("train --method dpsgd --steps 10 --data-hash" + all + "bare") &&
            does("train --method nonprivate" + all + "nonprivate");
  }

  const std::string& path() const { return folder_.path(); }
  bool were_made() const { return made_; }

 private:
  bool does(const std::string& line) const {
    const Finished finished = run_ration(line, path());
    EXPECT_EQ(finished.exit_code, 0) << line << "\n" << finished.err;
    return finished.exit_code == 0;
  }

  TemporaryFolder folder_;
  bool made_ = false;
};

class VerifyRun : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { runs_ = std::make_unique<Runs>(); }
  static void TearDownTestSuite() { runs_.reset(); }
  void SetUp() override {
    ASSERT_TRUE(runs_->were_made());
    fs::remove_all(path("run"));
  }

  static std::string path(const std::string& name) { return runs_->path() + "/" + name; }
  // A copy, as `run`.
  static void take(const std::string& name) {
    fs::copy(path(name), path("run"), fs::copy_options::recursive);
  }
  static Finished run(const std::string& line) { return run_ration(line, runs_->path()); }

  static std::string read(const std::string& name) { return read_whole_file(path("run/" + name)); }
  static void write(const std::string& name, const std::string& text) {
    std::ofstream(path("run/" + name), std::ios::binary) << text;
  }
  static ordered_json certificate() { return ordered_json::parse(read("certificate.json")); }
  // Certificate and text together, as somebody would who knows how the program writes them.
  static void forge(const ordered_json& json) {
    const Certificate certificate = certificate_from_json(json.dump());
    write("certificate.json", to_json(certificate));
    write("certificate.txt", to_text(certificate));
  }
  static void replace(const std::string& name, const std::string& pattern, const std::string& by) {
    const std::string before = read(name);
    const std::string after = std::regex_replace(before, std::regex(pattern), by);
    ASSERT_NE(before, after) << pattern;
    write(name, after);
  }

  static void expect_found(const std::string& line, const std::string& message) {
    const Finished finished = run(line);
    EXPECT_EQ(finished.exit_code, 1) << finished.out;
    EXPECT_EQ(finished.out, "");
    EXPECT_THAT(finished.err, HasSubstr(message));
    std::istringstream lines(finished.err);
    for (std::string one; std::getline(lines, one);)
      EXPECT_THAT(one, ::testing::StartsWith("ration: run/certificate.json: not verified: "));
  }

 private:
  static std::unique_ptr<Runs> runs_;
};
std::unique_ptr<Runs> VerifyRun::runs_;

TEST_F(VerifyRun, AnUntouchedRunHoldsAgainstEverything) {
  for (const std::string name : {"fixed", "adaptive", "bare"}) {
    const Finished plain = run("verify " + name);
    EXPECT_EQ(plain.exit_code, 0) << plain.err;
    EXPECT_THAT(plain.out, HasSubstr(": verified: epsilon 2, delta 1e-06"));
    EXPECT_THAT(plain.out, HasSubstr("it agrees with certificate.txt, model.json, plan.toml, schema.toml"));
    const bool in_ledger = name != "bare";
    const Finished all =
        run("verify " + name + " --data census.csv" + (in_ledger ? " --ledger budget.db" : ""));
    EXPECT_EQ(all.exit_code, 0) << all.err;
    EXPECT_THAT(all.out, HasSubstr(in_ledger ? "the ledger, the rows\n" : "the rows\n"));
  }
}

TEST_F(VerifyRun, FindsTheLedgerByThePlanAlsoFromElsewhere) {
  const Finished found = run_ration("verify " + path("fixed"), "/");
  EXPECT_THAT(found.out, HasSubstr("the ledger"));
  EXPECT_THAT(found.out, Not(HasSubstr("not checked: the ledger")));
}

TEST_F(VerifyRun, JsonSaysWhatWasAndWhatWasNotChecked) {
  const nlohmann::json found = ration_json("verify fixed --data census.csv", path(""));
  EXPECT_EQ(found.at("verified"), true);
  EXPECT_THAT(
      found.at("checked").get<std::vector<std::string>>(),
      ElementsAre("certificate.txt", "model.json", "plan.toml", "schema.toml", "the ledger", "the rows"));
  EXPECT_TRUE(found.at("not_checked").empty());
  EXPECT_THAT(ration_json("verify bare", path("")).at("not_checked").get<std::vector<std::string>>(),
              ElementsAre("the rows: give --data FILE"));
  EXPECT_TRUE(found.at("cautions").empty());
}

// --- what the certificate is of

TEST_F(VerifyRun, TheCertificateNamesModelPlanDataBudgetAndDate) {
  take("fixed");
  const ordered_json json = certificate();
  EXPECT_EQ(json.at("model"), "logistic");
  EXPECT_EQ(json.at("data"), "census.csv");
  EXPECT_EQ(json.at("budget").at("epsilon"), 2);
  EXPECT_EQ(json.at("budget").at("delta"), 1e-6);
  EXPECT_THAT(json.at("date").get<std::string>(),
              ::testing::MatchesRegex("20[0-9][0-9]-[01][0-9]-[0-3][0-9]T[0-9:]+Z"));
  ASSERT_EQ(json.at("files").size(), 3u);
  EXPECT_EQ(json.at("files")[0].at("name"), "model.json");
}

TEST_F(VerifyRun, ThePlanNamesNoAbsolutePath) {
  for (const std::string name : {"fixed", "adaptive", "bare"}) {
    const std::string plan = read_whole_file(path(name + "/plan.toml"));
    EXPECT_THAT(plan, Not(HasSubstr("\"/"))) << name;
    EXPECT_THAT(plan, HasSubstr("data = \"census.csv\"")) << name;
  }
  EXPECT_THAT(read_whole_file(path("fixed/plan.toml")), HasSubstr("ledger = \"../budget.db\""));
}

// --- tampering

TEST_F(VerifyRun, AnExchangedModelIsFound) {
  take("fixed");
  fs::copy_file(path("nonprivate/model.json"), path("run/model.json"), fs::copy_options::overwrite_existing);
  expect_found("verify run", "model.json: the certificate states sha256 ");
}

TEST_F(VerifyRun, AModelOnWhichAByteWasChangedIsFound) {
  take("fixed");
  replace("model.json", R"("weight": -?[0-9])", "\"weight\": 7");
  expect_found("verify run", "model.json: the certificate states sha256 ");
}

TEST_F(VerifyRun, AMissingModelIsFoundInAFolderAndNotedBesideAFile) {
  take("fixed");
  fs::remove(path("run/model.json"));
  expect_found("verify run", "model.json: the certificate speaks of it, but it is missing");
  EXPECT_THAT(run("verify run/certificate.json").out,
              HasSubstr("not checked: model.json: not beside the certificate\n"));
}

TEST_F(VerifyRun, ANoiseEditedInThePlanIsFound) {
  take("fixed");
  replace("plan.toml", R"(noise = ([0-9.]+))", "noise = 9$1");
  expect_found("verify run", "plan.toml: the certificate states sha256 ");
}

// Also if the hash was brought up to date: the releases are not those of the plan.
TEST_F(VerifyRun, ANoiseEditedInThePlanIsFoundByWhatItCosts) {
  take("fixed");
  replace("plan.toml", R"(noise = ([0-9.]+))", "noise = 9$1");
  ordered_json old = certificate();
  for (const char* const key : {"budget", "date", "data", "model", "files", "cautions"}) old.erase(key);
  forge(old);
  expect_found("verify run", "plan.toml: the certificate states releases that cost epsilon ");
}

// Whoever sends a run's folder could have it read what never ends.
TEST_F(VerifyRun, AFileThatAForeignPlanNamesIsNotOpened) {
  take("fixed");
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  replace("plan.toml", "schema = \"schema.toml\"", "schema = \"../pipe\"");
  EXPECT_THAT(read("plan.toml"), HasSubstr("../pipe"));
  EXPECT_NE(run("verify run").exit_code, 0);
}

TEST_F(VerifyRun, AnEditedSchemaIsFound) {
  take("fixed");
  write("schema.toml", read("schema.toml") + "\n# wider\n");
  expect_found("verify run", "schema.toml: the certificate states sha256 ");
}

TEST_F(VerifyRun, AnotherEpsilonInTheTextIsFound) {
  take("fixed");
  replace("certificate.txt", "Guarantee       epsilon 2,", "Guarantee       epsilon 1,");
  expect_found("verify run",
               "certificate.txt: the certificate says 'Guarantee       epsilon 2, delta 1e-06', found "
               "'Guarantee       epsilon 1, delta 1e-06'");
}

TEST_F(VerifyRun, AnotherUnitIsFound) {
  take("fixed");
  ordered_json json = certificate();
  json["unit_of_privacy"] = "one person";
  forge(json);
  expect_found("verify run", "it states that one person is protected");
}

TEST_F(VerifyRun, AnotherRelationIsFound) {
  take("bare");
  ordered_json json = certificate();
  json["relation"] = "replace_one";
  forge(json);
  expect_found("verify run", "plan.toml: the certificate states relation replace_one, found add_remove");
}

TEST_F(VerifyRun, AnotherRelationIsFoundByTheLedger) {
  take("fixed");
  ordered_json json = certificate();
  json["relation"] = "replace_one";
  forge(json);
  expect_found("verify run",
               "budget.db, run 1: the certificate states relation replace_one, found add_remove");
}

TEST_F(VerifyRun, AnotherDataHashIsFoundByLedgerAndRows) {
  take("fixed");
  ordered_json json = certificate();
  json["data_hash"] = std::string(64, 'a');
  forge(json);
  expect_found("verify run", "run 1: the certificate states data hash aaaaaaaaaaaaaaaa..., found ");
  expect_found("verify run --data census.csv",
               "census.csv: the certificate states data hash aaaaaaaaaaaaaaaa..., found ");
}

// Without ledger and rows the text still tells, unless it was written again too.
TEST_F(VerifyRun, AnotherDataHashInTheJsonAloneIsFoundByTheText) {
  take("bare");
  replace("certificate.json", R"("data_hash": "[0-9a-f]{8})", "\"data_hash\": \"00000000");
  expect_found("verify run", "certificate.txt: the certificate says 'Data hash       00000000");
}

TEST_F(VerifyRun, OtherRowsAreFound) {
  take("bare");
  expect_found("verify run --data other.csv", "other.csv: the certificate states data hash ");
}

TEST_F(VerifyRun, AnAdaptiveRunsEpsilonLoweredToItsEventSumIsFound) {
  take("adaptive");
  ordered_json json = certificate();
  ASSERT_EQ(json["spending_by"], "outputs");
  ASSERT_LT(json["epsilon_of_events"], 2);
  json["epsilon"] = json["epsilon_of_events"];
  forge(json);
  expect_found("verify run", "but a run that chose by its outputs is certified for its budget of epsilon 2,");
  json["budget"]["epsilon"] = json["epsilon"];
  forge(json);
  expect_found("verify run", "plan.toml: the certificate states a budget of epsilon 1.");
  json["spending_by"] = "plan";
  forge(json);
  expect_found("verify run",
               "plan.toml: the certificate states that the budget was spent by plan, found outputs");
}

TEST_F(VerifyRun, AnAdaptiveRunsDeltaLoweredIsFound) {
  take("adaptive");
  ordered_json json = certificate();
  json["delta"] = 9.999999e-7;
  json["epsilon_of_events"] = verify(certificate_from_json(json.dump())).epsilon;
  forge(json);
  expect_found("verify run", "is certified for its budget of epsilon 2, delta 1e-06");
}

TEST_F(VerifyRun, AnotherLedgerEntryIsFound) {
  take("fixed");
  ordered_json json = certificate();
  json["ledger"]["run"] = 2;  // of the adaptive run
  json["ledger"]["reserved_epsilon"] = 3;
  forge(json);
  expect_found("verify run", "run 2: the certificate states a reservation of epsilon 3, delta 1e-06, found ");
  json["ledger"]["run"] = 77;
  forge(json);
  expect_found("verify run", "budget.db: the certificate states run 77, found none");
}

TEST_F(VerifyRun, ALedgerThatTheCertificateDoesNotNameIsNoWitness) {
  take("bare");
  expect_found("verify run --ledger budget.db", "budget.db: the certificate states no ledger");
}

TEST_F(VerifyRun, AFileThatTheCertificateForgotIsFound) {
  take("fixed");
  ordered_json json = certificate();
  json["files"].erase(0);
  forge(json);
  expect_found("verify run", "model.json: the certificate states no hash of it");
  json["files"] = ordered_json::array();
  forge(json);
  expect_found("verify run", "plan.toml: the certificate states no hash of it");
  json["files"].push_back(ordered_json{{"name", "../fixed/model.json"}, {"sha256", std::string(64, '0')}});
  forge(json);
  expect_found("verify run", "'../fixed/model.json' that is not beside it");
}

TEST_F(VerifyRun, OtherNamesOfModelAndDataAreFound) {
  take("fixed");
  ordered_json json = certificate();
  json["model"] = "hinge";
  json["data"] = "public.csv";
  forge(json);
  expect_found("verify run", "plan.toml: the certificate states model hinge, found logistic");
  expect_found("verify run", "plan.toml: the certificate states data public.csv, found census.csv");
}

TEST_F(VerifyRun, EachProblemHasItsLine) {
  take("fixed");
  write("model.json", "{}");
  write("schema.toml", "");
  const Finished found = run("verify run");
  EXPECT_EQ(found.exit_code, 1);
  EXPECT_GE(std::count(found.err.begin(), found.err.end(), '\n'), 2);
  const Finished as_json = run("verify run --json");
  EXPECT_EQ(as_json.exit_code, 1);
  const ordered_json json = ordered_json::parse(as_json.out);
  EXPECT_EQ(json.at("verified"), false);
  EXPECT_GE(json.at("problems").size(), 2u);
}

// --- older certificates

TEST_F(VerifyRun, AnOldCertificateHoldsAsFarAsItGoes) {
  take("fixed");
  ordered_json old = certificate();
  for (const char* const key : {"budget", "date", "data", "model", "files", "cautions"}) old.erase(key);
  forge(old);
  const Finished found = run("verify run");
  EXPECT_EQ(found.exit_code, 0) << found.err;
  for (const std::string name : {"model.json", "plan.toml", "schema.toml"}) {
    EXPECT_THAT(found.out, HasSubstr("not checked: " + name + ": a certificate of ration "));
  }
  EXPECT_THAT(found.out, HasSubstr("not checked: a budget: certificates of ration "));
  EXPECT_THAT(found.out, HasSubstr("it agrees with certificate.txt, the ledger\n"));
}

TEST_F(VerifyRun, TheWordsOfAnotherVersionAreNotComparedButItsGuaranteeIs) {
  take("bare");
  replace("certificate.json", R"("version": "[^"]*")", "\"version\": \"0.1.0\"");
  EXPECT_THAT(run("verify run").out, HasSubstr("not checked: certificate.txt: in the words of ration 0.1.0"));
  replace("certificate.txt", "Guarantee       epsilon 2,", "Guarantee       epsilon 1,");
  expect_found("verify run", "certificate.txt: the certificate says ");
}

// --- signatures

TEST_F(VerifyRun, ASignedRunIsTheSignersAndNobodyElses) {
  ASSERT_EQ(run("train --data census.csv --schema census.toml --rows 400 --epsilon 2 --delta 1e-6 --method "
                "dpsgd --steps 5 "
                "--sign key.pem --out run")
                .exit_code,
            0);
  EXPECT_EQ(read("certificate.sig").size(), 64u);
  EXPECT_THAT(run("verify run --key key.pub").out, HasSubstr(", the signature\n"));
  EXPECT_THAT(run("verify run").out, HasSubstr("not checked: certificate.sig: give --key"));
  expect_found("verify run --key other.pub",
               "certificate.sig: expected a signature of certificate.json by "
               "other.pub, found another");
  ordered_json json = certificate();
  json["assumed_public"].erase(0);
  forge(json);  // nothing but the signature can tell
  EXPECT_EQ(run("verify run").exit_code, 0);
  expect_found("verify run --key key.pub", "found another");
}

TEST_F(VerifyRun, AKeyRefusesACertificateThatNobodySigned) {
  take("bare");
  expect_found("verify run --key key.pub", "certificate.sig: expected a signature by key.pub, found none");
}

TEST_F(VerifyRun, TheKeeperMaySignWhatHoldsAndNothingElse) {
  take("bare");
  EXPECT_THAT(run("verify run --sign key.pem").out, HasSubstr("signed: run/certificate.sig\n"));
  EXPECT_EQ(run("verify run --key key.pub").exit_code, 0);
  fs::remove(path("run/certificate.sig"));
  write("model.json", "{}");
  expect_found("verify run --sign key.pem", "model.json: ");
  EXPECT_FALSE(fs::exists(path("run/certificate.sig")));
}

TEST_F(VerifyRun, ABadKeyCostsNothing) {
  const std::string train =
      "train --data census.csv --schema census.toml --rows 400 --epsilon 2 --delta 1e-6 --method dpsgd "
      "--steps 5 --ledger "
      "budget.db --out run --sign ";
  const nlohmann::json before = ration_json("ledger runs budget.db", path("")).at("runs");
  expect_refused(run(train + "none.pem"), "none.pem: cannot read");
  expect_refused(run(train + "key.pub"), "key.pub: expected an Ed25519 private key in PEM");
  expect_refused(run("verify bare --key key.pem"), "key.pem: expected an Ed25519 public key in PEM");
  EXPECT_EQ(ration_json("ledger runs budget.db", path("")).at("runs"), before);
  EXPECT_FALSE(fs::exists(path("run")));
}

// --- cautions

TEST_F(VerifyRun, CautionsStandInTheCertificateAndAreRepeated) {
  ASSERT_EQ(run("train --data census.csv --schema census.toml --rows 400 --epsilon 12 --delta 1e-2 --method "
                "dpsgd --steps 5 "
                "--data-hash --out run")
                .exit_code,
            0);
  const std::vector<std::string> cautions = certificate().at("cautions");
  EXPECT_THAT(cautions,
              ElementsAre(HasSubstr("epsilon 12 is above 10"), HasSubstr("delta is not below 1 / rows")));
  EXPECT_THAT(read("certificate.txt"), HasSubstr("\nCAUTION         epsilon 12 is above 10"));
  const Finished found = run("verify run");
  EXPECT_EQ(found.exit_code, 0) << found.err;
  EXPECT_THAT(found.out, HasSubstr("caution: epsilon 12 is above 10"));
  EXPECT_THAT(found.out, HasSubstr("caution: delta is not below 1 / rows"));
  EXPECT_EQ(ration_json("verify run", path("")).at("cautions").size(), 2u);
  ordered_json json = certificate();
  json["cautions"] = ordered_json::array();
  forge(json);
  expect_found("verify run", "it states no caution, but ought to: epsilon 12 is above 10");
}

// The plan does not know how many rows there are; the run counts them.
TEST_F(VerifyRun, ANoisyCountOfTheRowsCautionsToo) {
  const Finished trained =
      run("train --data census.csv --schema census.toml --epsilon 2 --delta 1e-2 --method dpsgd --steps 5 "
          "--out run");
  ASSERT_EQ(trained.exit_code, 0);
  EXPECT_THAT(trained.out, HasSubstr("caution: delta is not below 1 / rows"));
  EXPECT_THAT(certificate().at("cautions").get<std::vector<std::string>>(),
              ElementsAre(HasSubstr("delta is not below 1 / rows")));
}

// --- evaluations

TEST_F(VerifyRun, AFigureOfAnEvaluationIsBoundToo) {
  take("bare");
  ASSERT_EQ(run("evaluate run --data other.csv --epsilon 0.5 --data-hash --out run/eval").exit_code, 0);
  const Finished found = run("verify run/eval --data other.csv");
  EXPECT_EQ(found.exit_code, 0) << found.err;
  EXPECT_THAT(found.out, HasSubstr("verified: epsilon 0.5, delta 0; its events cost 0.5 by rdp\n"));
  EXPECT_THAT(read("eval/certificate.txt"), Not(HasSubstr("0.500001")));
  replace("eval/evaluation.json", R"("accuracy": [0-9.]+)", "\"accuracy\": 0.99");
  EXPECT_THAT(run("verify run/eval").err, HasSubstr("evaluation.json: the certificate states sha256 "));
}

// A run that was told a wrong number of rows; nobody compares them but the noisy count of an evaluation.
TEST_F(VerifyRun, RowsDeclaredFarFromTheNoisyCountAreCautionedOf) {
  ASSERT_EQ(run("train --data census.csv --schema census.toml --rows 40 --epsilon 2 --delta 1e-6 --method "
                "dpsgd --steps 5 "
                "--data-hash --out run")
                .exit_code,
            0);
  const Finished evaluated = run("evaluate run --data census.csv --epsilon 2 --data-hash --out run/eval");
  ASSERT_EQ(evaluated.exit_code, 0);
  EXPECT_THAT(run("verify run/eval").out, HasSubstr("caution: the run declared 40 rows, but a noisy count"));
  ASSERT_EQ(run("evaluate bare --data census.csv --epsilon 2 --data-hash --out run/right").exit_code, 0);
  EXPECT_THAT(run("verify run/right").out, Not(HasSubstr("caution")));
}

}  // namespace
}  // namespace ration::testing
