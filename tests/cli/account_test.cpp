#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/instruction_set.h"
#include "support/ration_command.h"

namespace ration::testing {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

constexpr const char* kPoissonPlan =
    "account --sampling poisson --rate 0.01 --noise 1.0 --steps 1000 --delta 1e-5";
constexpr const char* kFullPlan = "account --sampling full --noise 20 --steps 100 --delta 1e-8";

TEST(Account, PoissonByPldPrintsABracket) {
  const json result = ration_json(std::string(kPoissonPlan) + " --accountant pld");
  EXPECT_LE(result.at("epsilon_lower"), result.at("epsilon"));
  EXPECT_NEAR(result.at("epsilon"), 2.1, 1.0);
  EXPECT_EQ(result.at("accountant"), "pld");
  EXPECT_EQ(result.at("certified"), true);
}

TEST(Account, EveryStableKeyIsThere) {
  const json result = ration_json(kPoissonPlan);
  for (const char* key : {"epsilon", "epsilon_lower", "delta", "accountant", "relation", "sampling", "rate",
                          "noise_multiplier", "steps", "certified", "detail", "seconds"}) {
    EXPECT_TRUE(result.contains(key)) << key;
  }
  EXPECT_EQ(result.at("accountant"), "pld");
  EXPECT_EQ(result.at("sampling"), "poisson");
  EXPECT_EQ(result.at("rate"), 0.01);
  EXPECT_EQ(result.at("noise_multiplier"), 1.0);
  EXPECT_EQ(result.at("steps"), 1000);
  EXPECT_EQ(result.at("delta"), 1e-5);
}

TEST(Account, RelationFollowsTheSamplerUnlessGiven) {
  EXPECT_EQ(ration_json(kPoissonPlan).at("relation"), "add_remove");
  EXPECT_EQ(ration_json(kFullPlan).at("relation"), "add_remove");
  EXPECT_EQ(ration_json(std::string(kFullPlan) + " --relation replace_one").at("relation"), "replace_one");
  const json fixed =
      ration_json("account --sampling fixed --rate 0.01 --noise 2 --steps 500 --delta 1e-6 --accountant rdp");
  EXPECT_EQ(fixed.at("relation"), "replace_one");
  EXPECT_GT(fixed.at("epsilon"), 0.0);
}

TEST(Account, AllPrintsOneRowPerAccountant) {
  const Finished finished = run_ration(std::string(kFullPlan) + " --accountant all");
  EXPECT_EQ(finished.exit_code, 0);
  EXPECT_EQ(finished.err, "");
  for (const char* name : {"rdp", "pld", "zcdp", "tcdp", "gdp", "advanced", "moments"}) {
    EXPECT_THAT(finished.out, HasSubstr(std::string("\n") + name + " "));
  }
}

TEST(Account, AllMarksWhatIsNoGuaranteeAndSaysWhyItRefuses) {
  const json result = ration_json(std::string(kPoissonPlan) + " --accountant all");
  ASSERT_EQ(result.at("results").size(), 7u);
  for (const json& one : result.at("results")) {
    if (one.at("accountant") == "zcdp") {
      EXPECT_NE(one.at("refused"), "");
      EXPECT_FALSE(one.contains("epsilon"));
    }
    if (one.at("accountant") == "gdp") {
      EXPECT_EQ(one.at("certified"), false);
    }
  }
  const Finished table = run_ration(std::string(kPoissonPlan) + " --accountant all");
  EXPECT_THAT(table.out, HasSubstr("refused: "));
  EXPECT_THAT(table.out, HasSubstr("not a guarantee"));
}

TEST(Account, ScheduleOfEqualStepsIsThePlanItself) {
  const TemporaryFolder folder;
  folder.write("sigmas.txt",
               "# as one block, with a count, and line by line\n20 x 60\n\n20 38\r\n20\n20  # last\n");
  const json schedule = ration_json(
      "account --sampling full --schedule sigmas.txt --delta 1e-8 --accountant zcdp", folder.path());
  const json plan = ration_json(std::string(kFullPlan) + " --accountant zcdp");
  EXPECT_NEAR(schedule.at("epsilon"), plan.at("epsilon"), 1e-12);
  EXPECT_EQ(schedule.at("steps"), 100);
  EXPECT_TRUE(schedule.at("noise_multiplier").is_null());
  EXPECT_EQ(schedule.at("schedule").at("noise_min"), 20.0);
}

TEST(Account, ScheduleStepsAddUp) {
  const TemporaryFolder folder;
  folder.write("sigmas.txt", "20\n10\n5\n");
  const std::string line = "account --sampling full --schedule sigmas.txt --delta 1e-8 --accountant zcdp";
  const json result = ration_json(line, folder.path());
  const json largest_step =
      ration_json("account --sampling full --noise 5 --steps 1 --delta 1e-8 --accountant zcdp");
  EXPECT_GT(result.at("epsilon"), largest_step.at("epsilon"));
  EXPECT_EQ(result.at("steps"), 3);
}

TEST(Account, QuietPrintsOnlyTheNumberRoundedUp) {
  const Finished finished = run_ration(std::string(kPoissonPlan) + " --quiet");
  EXPECT_EQ(finished.exit_code, 0);
  EXPECT_GE(std::stod(finished.out), ration_json(kPoissonPlan).at("epsilon").get<double>());
  EXPECT_EQ(std::count(finished.out.begin(), finished.out.end(), '\n'), 1);
}

TEST(Account, PlotIsWrittenWholeAndNothingIsLeftBeside) {
  const TemporaryFolder folder;
  const json result = ration_json(std::string(kFullPlan) + " --accountant all --plot eps.svg", folder.path());
  EXPECT_EQ(result.at("plot"), "eps.svg");
  const std::string svg = read_whole_file(folder.path() + "/eps.svg");
  EXPECT_TRUE(svg.starts_with("<svg "));
  EXPECT_TRUE(svg.ends_with("</svg>\n"));
  const std::filesystem::directory_iterator files(folder.path());
  EXPECT_EQ(std::distance(begin(files), end(files)), 1);
}

TEST(Account, HelpHasExamples) {
  for (const char* command : {"", "account ", "calibrate ", "demo "}) {
    const Finished finished = run_ration(std::string(command) + "--help");
    EXPECT_EQ(finished.exit_code, 0);
    EXPECT_EQ(finished.err, "");
    EXPECT_THAT(finished.out, HasSubstr("Examples:\n  ration "));
  }
}

Finished with_cpu(const std::string& set, const std::string& line) {
  setenv("RATION_CPU", set.c_str(), 1);
  const Finished finished = run_ration(line);
  unsetenv("RATION_CPU");
  return finished;
}

TEST(Account, VersionIsOneLineWithTheInstructionSet) {
  for (const InstructionSet set : available_instruction_sets()) {
    const Finished finished = with_cpu(std::string(to_string(set)), "--version");
    EXPECT_EQ(finished.exit_code, 0);
    EXPECT_THAT(finished.out, ::testing::MatchesRegex("ration [0-9]+\\.[0-9]+\\.[0-9]+ \\(" +
                                                      std::string(to_string(set)) + "\\)\n"));
  }
}

TEST(Account, AnUnknownInstructionSetIsRefusedBeforeAnythingElse) {
  for (const char* const line : {"--version", "--help", "demo"}) {
    const Finished finished = with_cpu("sse9", line);
    EXPECT_EQ(finished.exit_code, 1);
    EXPECT_EQ(finished.out, "");
    EXPECT_EQ(finished.err, "ration: RATION_CPU: expected portable, avx2 or avx512, got 'sse9'\n");
  }
}

}  // namespace
}  // namespace ration::testing
