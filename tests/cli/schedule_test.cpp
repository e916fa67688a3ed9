#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "cli/refusal.h"
#include "ration/data/census.h"
#include "ration/data/schema.h"
#include "support/ration_command.h"

namespace ration::testing {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

const std::string kInfluence =
    "schedule --shape influence --gamma 0.97 --steps 100 --epsilon 4 --delta 1e-8 --accountant zcdp";

TEST(Schedule, AsThePaperHasIt) {
  const TemporaryFolder folder;
  const Finished shown = run_ration(kInfluence + " --plot s.svg", folder.path());
  EXPECT_EQ(shown.exit_code, 0) << shown.err;
  EXPECT_EQ(shown.err, "");
  for (const char* const part :
       {"epsilon 4 of 4 at delta 1e-08, by zcdp", "0.19635 by the looser conversion", "bound  ",
        "best steps  14 with the best schedule", "13 with uniform noise", "plot: s.svg"}) {
    EXPECT_THAT(shown.out, HasSubstr(part));
  }
  const std::string svg = read_whole_file(folder.path() + "/s.svg");
  EXPECT_THAT(svg, HasSubstr("noise multiplier"));
  EXPECT_THAT(svg, HasSubstr("uniform"));
}

TEST(Schedule, JsonHasEveryStepAndTheBounds) {
  const json result = ration_json(kInfluence);
  EXPECT_EQ(result.at("accountant"), "zcdp");
  EXPECT_EQ(result.at("steps"), 100);
  EXPECT_EQ(result.at("relation"), "add_remove");
  EXPECT_EQ(result.at("delta"), 1e-8);
  EXPECT_LE(result.at("epsilon"), 4);
  EXPECT_GE(result.at("epsilon"), 4 * (1 - 1e-3));
  EXPECT_NEAR(result.at("rho_classic"), 0.1963, 1e-4);
  EXPECT_GT(result.at("rho"), result.at("rho_classic"));
  EXPECT_TRUE(result.contains("seconds"));
  const std::vector<double> noise = result.at("noise_multipliers");
  ASSERT_EQ(noise.size(), 100u);
  double rho = 0;
  for (std::size_t t = 0; t < 100; ++t) {
    rho += 1 / (2 * noise[t] * noise[t]);
    EXPECT_NEAR(noise[t] / noise[0], std::pow(0.97, static_cast<double>(t) / 4), 1e-12);
  }
  EXPECT_NEAR(result.at("rho"), rho, 1e-12);
  EXPECT_EQ(result.at("noise_first"), noise.front());
  EXPECT_EQ(result.at("noise_min"), noise.back());
  EXPECT_EQ(result.at("best_steps"), 14);
  EXPECT_EQ(result.at("best_steps_uniform"), 13);
  EXPECT_EQ(result.at("best_steps_uniform_paper"), 114);
  // [Hong22, Eq. 3 and Lemma 4.1], by hand: gamma^T + alpha ((1 - gamma^(T/2)) / (1 - sqrt(gamma)))^2.
  const double root = std::sqrt(0.97);
  EXPECT_NEAR(result.at("erub"),
              std::pow(0.97, 100) + 1e-3 * std::pow((1 - std::pow(root, 100)) / (1 - root), 2), 1e-9);
  EXPECT_NEAR(result.at("erub_uniform"), std::pow(0.97, 100) + 1e-3 * 100 * (1 - std::pow(0.97, 100)) / 0.03,
              1e-9);
}

TEST(Schedule, AlphaFromItsPartsUsesTheBudgetsOwnR) {
  const std::string parts =
      kInfluence + " --parameters 60 --gradient-bound 4 --smoothness 10 --rows 1000 --initial-error 0.5";
  const json result = ration_json(parts);
  const double r = 2 * result.at("rho").get<double>();
  EXPECT_NEAR(result.at("alpha").get<double>() / (60 * 16 / (2 * r * 10 * 1e6 * 0.5)), 1, 1e-6);
  EXPECT_NEAR(ration_json(kInfluence + " --alpha 0.25").at("alpha"), 0.25, 1e-15);
}

TEST(Schedule, EveryShapeAndAccountantLandsOnTheBudget) {
  for (const char* const shape :
       {"uniform", "exponential", "step", "time", "polynomial", "influence", "influence-momentum"}) {
    const json result =
        ration_json(fmt::format("schedule --shape {} --steps 20 --epsilon 2 --delta 1e-6", shape));
    EXPECT_LE(result.at("epsilon"), 2) << shape;
    EXPECT_GE(result.at("epsilon"), 2 * (1 - 1e-3)) << shape;
  }
  for (const char* const way :
       {"--accountant rdp", "--accountant gdp", "--accountant pld", "--accountant tcdp",
        "--accountant advanced", "--relation replace_one", "--sampling poisson --rate 0.1",
        "--sampling poisson --rate 0.1 --accountant rdp", "--sampling fixed --rate 0.1"}) {
    const json result = ration_json(
        fmt::format("schedule --shape influence --gamma 0.9 --steps 10 --epsilon 2 --delta 1e-6 {}", way));
    EXPECT_LE(result.at("epsilon"), 2) << way;
    EXPECT_GE(result.at("epsilon"), 2 * (1 - 1e-3)) << way;
    // Sampling makes the first bits of noise worth more than 1 / noise^2 says, which the lemma does not know.
    if (result.at("sampling") == "full") {
      EXPECT_LT(result.at("erub"), result.at("erub_uniform")) << way;
    }
  }
}

TEST(Schedule, ItsFileIsReadByAccountAndTrain) {
  const TemporaryFolder folder;
  EXPECT_EQ(run_ration("demo --files .", folder.path()).exit_code, 0);
  EXPECT_EQ(run_ration(kInfluence + " --out s.csv --quiet", folder.path()).exit_code, 0);
  const json spent =
      ration_json("account --sampling full --schedule s.csv --delta 1e-8 --accountant zcdp", folder.path());
  EXPECT_LE(spent.at("epsilon"), 4);
  EXPECT_GE(spent.at("epsilon"), 4 * (1 - 1e-3));
  const std::string plan =
      folder.write("plan.toml", "schema = \"census.toml\"\nrows = 30000\nmethod = \"dpsgd\"\nsteps = 7\n");
  const json run = ration_json(
      "train --plan plan.toml --data census.csv --schedule s.csv --epsilon 1 --delta 1e-6 --out run",
      folder.path());
  EXPECT_EQ(run.at("steps"), 100) << "the file's, not the plan's";
  EXPECT_LE(run.at("epsilon"), 1);
  EXPECT_EQ(run_ration("verify run", folder.path()).exit_code, 0);
}

class Estimated : public ::testing::Test {
 protected:
  Estimated() {
    std::ofstream out(folder_.path() + "/public.csv");
    data::write_census(out, 300, 4);
    folder_.write("census.toml", to_toml(data::census_schema()));
  }

  const std::string line_ =
      "schedule --shape influence:estimated --data public.csv --schema census.toml --rows 30000 --steps 12 "
      "--epsilon 1 --delta 1e-6 --runs 2";
  TemporaryFolder folder_;
};

TEST_F(Estimated, OnPublicRowsSaysSoLoudly) {
  const Finished shown = run_ration(line_ + " --out s.csv", folder_.path());
  EXPECT_EQ(shown.exit_code, 0) << shown.err;
  EXPECT_THAT(shown.err, HasSubstr("public.csv was read WITHOUT PRIVACY"));
  const json result = ration_json(line_, folder_.path());
  EXPECT_EQ(result.at("private"), false);
  EXPECT_THAT(result.at("warning").get<std::string>(), HasSubstr("WITHOUT PRIVACY"));
  EXPECT_EQ(result.at("influence").size(), 12u);
  EXPECT_LE(result.at("epsilon"), 1);
  EXPECT_EQ(ration_json("plan --method dpsgd --schedule s.csv --rows 30000 --epsilon 1 --delta 1e-6",
                        folder_.path())
                .at("steps"),
            12);
}

// The rows that a plan names are private; they are not taken for public ones.
TEST_F(Estimated, APlansOwnRowsAreNotRead) {
  folder_.write("plan.toml", "data = \"public.csv\"\nschema = \"census.toml\"\nrows = 30000\n");
  const std::string line =
      "schedule --shape influence:estimated --plan plan.toml --steps 5 --epsilon 1 --delta 1e-6 --runs 1";
  expect_refused(run_ration(line, folder_.path()), "--data is needed: PUBLIC rows");
  EXPECT_EQ(ration_json(line + " --data public.csv", folder_.path()).at("steps"), 5);
}

// Lemma 4.1, on what was printed.
TEST_F(Estimated, FollowsItsInfluence) {
  const json result = ration_json(line_ + " --step sgd --average none --lr 1", folder_.path());
  const std::vector<double> noise = result.at("noise_multipliers");
  const std::vector<double> influence = result.at("influence");
  for (std::size_t t = 0; t < noise.size(); ++t) {
    EXPECT_NEAR(noise[t] / noise[0], std::pow(influence[t] / influence[0], -0.25), 1e-9);
  }
}

TEST_F(Estimated, RefusesOnOneLine) {
  const auto refused = [&](const std::string& line, const std::string& message) {
    expect_refused(run_ration(line, folder_.path()), message);
  };
  refused("schedule --shape influence:estimated --steps 5 --epsilon 1 --delta 1e-6",
          "--data is needed: PUBLIC rows");
  refused(line_ + " --estimate guess", "--estimate: expected one of retraining, hessian, got 'guess'");
  refused(line_ + " --fit line", "--fit: expected one of none, exponential, got 'line'");
  refused(line_ + " --estimate hessian", "Hessian estimate: expected model squared, got logistic");
  refused(line_ + " --clip adaptive", "clip adaptive is not covered");
  refused("train --schedule influence:estimated --out run",
          "'ration schedule --shape influence:estimated --data PUBLIC.csv");
  refused(
      "schedule --shape influence:estimated --data no.csv --schema census.toml --steps 5 --epsilon 1 --delta "
      "1e-6",
      "no.csv");
  refused("schedule --shape influence:estimated --data public.csv --steps 5 --epsilon 1 --delta 1e-6",
          "schema is needed");
}

TEST(Schedule, RefusesOnOneLine) {
  const std::string rest = " --steps 10 --epsilon 1 --delta 1e-6";
  const std::pair<std::string, std::string> bad[] = {
      {"schedule" + rest, "--shape is needed: uniform, exponential"},
      {"schedule --shape steep" + rest, "--shape: expected one of influence:estimated, uniform"},
      {"schedule --shape s.csv" + rest, "--shape: expected one of influence:estimated, uniform"},
      {"schedule --shape influence --epsilon 1 --delta 1e-6", "--steps is needed"},
      {"schedule --shape influence --steps 10 --delta 1e-6", "--epsilon is needed"},
      {"schedule --shape influence --steps 10 --epsilon 1", "--delta is needed"},
      {"schedule --shape influence --steps 0 --epsilon 1 --delta 1e-6", "1 <= steps"},
      {"schedule --shape influence --steps 1e10 --epsilon 1 --delta 1e-6", "steps <= 100000000"},
      {"schedule --shape influence --gamma 1" + rest, "--gamma: expected 0 < gamma < 1, got '1'"},
      {"schedule --shape exponential --schedule-rate -1" + rest, "schedule_rate >= 0, got '-1'"},
      {"schedule --shape exponential --schedule-rate 100" + rest, "smallest over largest noise"},
      {"schedule --shape influence-momentum --gamma 0.5" + rest, "beta^2 < 0.5"},
      {"schedule --shape influence --sampling poisson" + rest, "--rate is needed with --sampling poisson"},
      {"schedule --shape influence --sampling poisson --rate 0.1 --accountant zcdp" + rest, "cannot certify"},
      {"schedule --shape influence --accountant all" + rest, "got 'all'"},
      {"schedule --shape influence --accountant odometer" + rest, "got 'odometer'"},
      {"schedule --shape influence --alpha 0" + rest, "--alpha: expected alpha > 0, got '0'"},
      {"schedule --shape influence --alpha 1 --parameters 5" + rest,
       "--alpha cannot be combined with --parameters"},
      {"schedule --shape influence --parameters 5" + rest, "--gradient-bound is needed"},
      {"schedule --shape influence --runs 5" + rest, "--runs is only for --shape influence:estimated"},
      {"schedule --shape influence --fit exponential" + rest,
       "--fit is only for --shape influence:estimated"},
      {"schedule --shape influence --plot /no/such/s.svg" + rest, "/no/such/s.svg"},
  };
  for (const auto& [line, message] : bad) {
    SCOPED_TRACE(line);
    expect_refused(run_ration(line), message);
  }
}

}  // namespace
}  // namespace ration::testing
