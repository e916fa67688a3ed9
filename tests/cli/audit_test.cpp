#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "cli/refusal.h"
#include "pictures/audit_plot.h"
#include "ration/data/census.h"
#include "support/ration_command.h"
#include "text/audit_text.h"

namespace ration::testing {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

// Contradicts a true claim with probability 1e-6 at most.
const std::string kQuick = " --trials 100 --canaries 20 --confidence 0.999999";

// A folder with census.csv, census.toml and a finished run.
class TrainedCensus {
 public:
  explicit TrainedCensus(const std::string& epsilon) {
    folder_.write("census.toml", to_toml(data::census_schema()));
    std::ofstream out(path() + "/census.csv");
    data::write_census(out, 400, 1);
    out.close();
    const Finished finished = run_ration(
        "train --data census.csv --schema census.toml --rows 400 --method dpsgd --steps 3 --delta 1e-5 --out "
        "run "
        "--epsilon " +
            epsilon,
        path());
    EXPECT_EQ(finished.exit_code, 0) << finished.err;
  }

  const std::string& path() const { return folder_.path(); }
  std::string file(const std::string& name) const { return path() + "/" + name; }
  json certificate() const { return json::parse(read_whole_file(file("run/certificate.json"))); }
  void write(const std::string& name, const std::string& text) const { folder_.write(name, text); }

 private:
  TemporaryFolder folder_;
};

TEST(AuditCommand, ShowsClaimBoundAndConfidenceOfEachAttack) {
  const Finished finished = run_ration("audit --method dpsgd --epsilon 1 --delta 1e-5 --steps 2" + kQuick);
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_EQ(finished.err, "");
  for (const char* part : {"claim", "at least", "confidence", "white box", "black box", "Clopper-Pearson",
                           "Gaussian DP", "one run", "That proves no privacy"}) {
    EXPECT_THAT(finished.out, HasSubstr(part));
  }
}

TEST(AuditCommand, LooksAtWhatItIsTold) {
  const std::string line = "audit --method dpsgd --epsilon 1 --delta 1e-5 --steps 2" + kQuick;
  EXPECT_THAT(run_ration(line + " --white-box").out, Not(HasSubstr("black box")));
  EXPECT_THAT(run_ration(line + " --black-box").out, Not(HasSubstr("white box")));
  EXPECT_THAT(run_ration(line + " --canaries 0").err, HasSubstr("--canaries is given twice"));
}

// A method without gradients has only its model to show.
TEST(AuditCommand, OfOneReleaseIsABlackBox) {
  const json found = ration_json("audit --epsilon 1 --delta 1e-5 --method majority" + kQuick);
  for (const json& finding : found["findings"])
    EXPECT_THAT(finding["attack"].get<std::string>(), HasSubstr("black box"));
}

TEST(AuditCommand, AttachesItsResultToARun) {
  const TrainedCensus census("1");
  const Finished finished = run_ration("audit --attach run" + kQuick, census.path());
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  const json attached = json::parse(read_whole_file(census.file("run/audit.json")));
  EXPECT_EQ(attached["claim"], census.certificate()["epsilon"]);
  EXPECT_EQ(read_whole_file(census.file("run/audit.txt")), finished.out);
  EXPECT_THAT(read_whole_file(census.file("run/audit.svg")), HasSubstr("<svg"));
  EXPECT_EQ(run_ration("verify run", census.path()).exit_code, 0);
}

// The run was made for epsilon 8, mu = 1.6, of which 500 runs that judge show more than 1. Fails by chance
// with probability below 1e-9.
TEST(AuditCommand, ExitsWithTwoIfTheCertificateIsContradicted) {
  const TrainedCensus census("8");
  json certificate = census.certificate();
  certificate["epsilon"] = 0.1;
  census.write("run/certificate.json", certificate.dump());
  const Finished finished = run_ration("audit --attach run --trials 1000 --canaries 0", census.path());
  EXPECT_EQ(finished.exit_code, 2);
  EXPECT_THAT(finished.out, HasSubstr("CONTRADICTS THE CLAIM"));
  EXPECT_THAT(finished.err, HasSubstr("the claim is contradicted"));
  EXPECT_TRUE(json::parse(read_whole_file(census.file("run/audit.json")))["contradicted"].get<bool>());
}

TEST(AuditCommand, ReadsTheRowsOfAFileOnlyIfItIsNamed) {
  const TrainedCensus census("1");
  std::filesystem::rename(census.file("census.csv"), census.file("moved.csv"));
  EXPECT_THAT(run_ration("audit run" + kQuick, census.path()).out, HasSubstr("made-up tables"));
  const Finished named = run_ration("audit run --data moved.csv" + kQuick, census.path());
  EXPECT_EQ(named.exit_code, 0) << named.err;
  EXPECT_THAT(named.out, HasSubstr("NOT PRIVATE"));
}

audit::Report contradicted() {
  return {.subject = "x",
          .claim = {.epsilon = 1, .delta = 1e-5},
          .confidence = 0.95,
          .findings =
              {{.attack = "a", .theorem = "t", .claim = 1, .bound = 2, .confidence = 0.95},
               {.attack = "b", .theorem = "t", .claim = 1, .bound = 3, .confidence = 0.95, .counts = false}},
          .curves = {{"a", {{0.5, 0.9}, {0.1, 0.5}, {0, 0.1}}}}};
}

TEST(AuditText, SaysWhatIsContradictedAndWhatDoesNotCount) {
  const std::string text = cli::to_text(contradicted());
  EXPECT_THAT(text, HasSubstr("CONTRADICTS THE CLAIM"));
  EXPECT_THAT(text, HasSubstr("holds for Gaussian noise alone"));
  EXPECT_THAT(text, HasSubstr("The claim is false"));
  EXPECT_TRUE(cli::to_json(contradicted())["contradicted"].get<bool>());
  EXPECT_THAT(cli::plot_audit(contradicted()), HasSubstr("the claim allows"));
}

}  // namespace
}  // namespace ration::testing
