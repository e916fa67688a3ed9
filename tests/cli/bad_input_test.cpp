#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/refusal.h"
#include "support/places.h"
#include "support/ration_command.h"

namespace ration::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

struct BadInput {
  std::string name;
  std::string line;
  std::string message;  // a part of what stderr must say
};

void PrintTo(const BadInput& bad, std::ostream* out) {
  *out << bad.line;
}

class RefusedWithOneLine : public ::testing::TestWithParam<BadInput> {};

TEST_P(RefusedWithOneLine, AndExitStatusOne) {
  expect_refused(run_ration(GetParam().line), GetParam().message);
}

// A complete plan with one thing changed.
std::string poisson(const std::string& rate, const std::string& noise, const std::string& steps,
                    const std::string& delta) {
  return "account --sampling poisson --rate " + rate + " --noise " + noise + " --steps " + steps +
         " --delta " + delta;
}

const std::string kGood = poisson("0.01", "1", "10", "1e-5");
const std::string kCalibrate = "calibrate --sampling poisson --delta 1e-5 ";

const BadInput kBadInputs[] = {
    {"NoCommand", "",
     "expected a command: account, audit, calibrate, coefficients, compare, completion, demo"},
    {"UnknownCommand", "acount", "unknown command 'acount'; did you mean 'account'?"},
    {"SimilarCommand", "acount", "did you mean 'account'?"},
    {"SimilarFlag", kGood + " --acountant rdp", "did you mean '--accountant'?"},
    {"UnknownGlobalFlag", "--verbose", "unknown flag '--verbose'"},
    {"UnknownFlag", kGood + " --sigma 3", "account: unknown flag '--sigma'; see 'ration account --help'"},
    {"MistypedFlag", "train --metod dpsgd", "train: unknown flag '--metod'; did you mean '--method'?"},
    {"FlagCutShort", "train --accou rdp", "train: unknown flag '--accou'; did you mean '--accountant'?"},
    {"NoSuchCommand", "frobnicate",
     "unknown command 'frobnicate'; commands are account, audit, calibrate, coefficients, compare"},
    {"StrayWord", kGood + " more", "account: unexpected word 'more'; see 'ration account --help'"},
    {"FlagWithoutValue", "account --sampling", "--sampling needs a value: --sampling NAME"},
    {"FlagInPlaceOfValue", "account --sampling poisson --rate --noise 1", "--rate needs a value"},
    {"FlagTwice", kGood + " --rate 0.1", "--rate is given twice"},
    {"SwitchWithValue", kGood + " --json=yes", "--json takes no value"},
    {"UnknownSampling", "account --sampling bernoulli",
     "--sampling: expected one of auto, full, poisson, fixed, got 'bernoulli'"},
    {"SimilarSampling", "account --sampling poison", "got 'poison'; did you mean 'poisson'?"},
    {"Shuffling", "account --sampling shuffle", "'shuffle' is not certified"},
    {"RateAboveOne", poisson("1.5", "1", "10", "1e-5"), "--rate: expected 0 < rate <= 1, got '1.5'"},
    {"RateZero", poisson("0", "1", "10", "1e-5"), "--rate: expected 0 < rate <= 1, got '0'"},
    {"RateNegative", poisson("-0.1", "1", "10", "1e-5"), "--rate: expected 0 < rate <= 1, got '-0.1'"},
    {"RateNotANumber", poisson("abc", "1", "10", "1e-5"), "--rate: expected 0 < rate <= 1, got 'abc'"},
    {"RateWithTail", poisson("0.1x", "1", "10", "1e-5"), "--rate: expected 0 < rate <= 1, got '0.1x'"},
    {"RateMissing", "account --sampling poisson --noise 1 --steps 1 --delta 1e-5",
     "--rate is needed with --sampling poisson"},
    {"RateWithFullBatch", "account --sampling full --rate 0.1 --noise 1 --steps 1 --delta 1e-5",
     "--sampling full uses every row"},
    {"NoiseNegative", poisson("0.01", "-1", "10", "1e-5"), "--noise: expected noise > 0, got '-1'"},
    {"NoiseNan", poisson("0.01", "nan", "10", "1e-5"), "--noise: expected noise > 0, got 'nan'"},
    {"NoiseInfinite", poisson("0.01", "inf", "10", "1e-5"), "--noise: expected noise > 0, got 'inf'"},
    {"NoiseTooLargeForADouble", poisson("0.01", "1e999", "10", "1e-5"),
     "--noise: expected noise > 0, got '1e999'"},
    {"NoiseMissing", "account --sampling full --steps 1 --delta 1e-5", "--noise is needed"},
    {"StepsZero", poisson("0.01", "1", "0", "1e-5"),
     "--steps: expected a whole number with 1 <= steps <= 1e12, got '0'"},
    {"StepsFractional", poisson("0.01", "1", "1.5", "1e-5"),
     "expected a whole number with 1 <= steps <= 1e12, got '1.5'"},
    {"StepsNegative", poisson("0.01", "1", "-5", "1e-5"), "got '-5'"},
    {"StepsHuge", poisson("0.01", "1", "1e30", "1e-5"), "got '1e30'"},
    {"StepsMissing", "account --sampling full --noise 1 --delta 1e-5", "--steps is needed"},
    {"DeltaZero", poisson("0.01", "1", "10", "0"), "--delta: expected 0 < delta < 1, got '0'"},
    {"DeltaOne", poisson("0.01", "1", "10", "1"), "--delta: expected 0 < delta < 1, got '1'"},
    {"DeltaMissing", "account --sampling full --noise 1 --steps 1", "--delta is needed"},
    {"UnknownAccountant", kGood + " --accountant magic",
     "--accountant: expected one of auto, all, rdp, pld, zcdp, tcdp, gdp, advanced, moments, got 'magic'"},
    {"UnknownRelation", kGood + " --relation swap",
     "--relation: expected one of auto, add_remove, replace_one, got 'swap'"},
    {"FixedSizeUnderAddRemove",
     "account --sampling fixed --rate 0.01 --noise 2 --steps 500 --delta 1e-6 --relation add_remove",
     "replace_one"},
    {"PoissonUnderReplaceOne", kGood + " --relation replace_one", "add_remove"},
    {"PoissonByZcdp", kGood + " --accountant zcdp", "zcdp"},
    {"ScheduleMissing", "account --sampling full --schedule /no/such/file --delta 1e-5",
     "/no/such/file: cannot read the schedule"},
    {"ScheduleIsAFolder", "account --sampling full --schedule / --delta 1e-5", "is a folder"},
    {"ScheduleAndNoise", "account --sampling full --schedule x --noise 1 --delta 1e-5",
     "--schedule replaces --noise and --steps; leave --noise out"},
    {"AuditOfNothing", "audit",
     "audit: which plan or run? ration audit PLAN, ration audit RUN, or --epsilon"},
    {"AuditOfRows", "audit " RATION_SOURCE_DIR "/README.md", ": not a plan (TOML): "},
    {"AuditOfTooFewRuns", "audit --epsilon 1 --delta 1e-5 --trials 5", "--trials: expected 100 <= trials"},
    {"AuditWithoutDoubt", "audit --epsilon 1 --delta 1e-5 --confidence 1",
     "--confidence: expected 0 < confidence < 1, got '1'"},
    {"AuditOfTwoViews", "audit --epsilon 1 --delta 1e-5 --white-box --black-box", "give one of them"},
    {"AuditOfWhatPromisesNothing", "audit --epsilon 1 --delta 1e-5 --method nonprivate",
     "method nonprivate promises nothing"},
    {"AuditOfImages", "audit --epsilon 1 --delta 1e-5 --model scatter+softmax", "needs images"},
    {"AuditOfTwoPlans", "audit a.toml --plan b.toml", "the plan is given twice"},
    {"AuditOfMechanismsAndAPlan", "audit --mechanisms --epsilon 1", "leave --epsilon out"},
    {"AuditAttachedToAnotherPlan", "audit --attach run --epsilon 1", "leave --epsilon out"},
    {"AuditAttachedToNothing", "audit --attach /no/such/run", "/no/such/run/plan.toml"},
    {"PlotCannotBeWritten", kGood + " --plot /no/such/folder/a.svg", "/no/such/folder/a.svg: cannot write"},
    {"PlotIsAFolder", kGood + " --plot /", "cannot write: expected a file name"},
    {"EpsilonZero", kCalibrate + "--rate 0.1 --steps 10 --epsilon 0",
     "--epsilon: expected epsilon > 0, got '0'"},
    {"EpsilonMissing", kCalibrate + "--rate 0.1 --steps 10", "--epsilon is needed"},
    {"CalibrateUnknown", kCalibrate + "--for delta",
     "--for: expected one of noise, steps, rate, got 'delta'"},
    {"CalibrateNoiseGivenNoise", kCalibrate + "--rate 0.1 --steps 10 --noise 1 --epsilon 1",
     "leave --noise out"},
    {"CalibrateStepsGivenSteps", kCalibrate + "--for steps --rate 0.1 --steps 10 --noise 1 --epsilon 1",
     "leave --steps out"},
    {"CalibrateRateGivenRate", kCalibrate + "--for rate --rate 0.1 --steps 10 --noise 1 --epsilon 1",
     "leave --rate out"},
    {"CalibrateRateOfFullBatch",
     "calibrate --for rate --sampling full --steps 10 --noise 1 --epsilon 1 --delta 1e-5",
     "no rate to choose"},
    {"DemoTakesNoPlan", "demo --rate 0.1", "demo: unknown flag '--rate'"},
};

INSTANTIATE_TEST_SUITE_P(BadInput, RefusedWithOneLine, ::testing::ValuesIn(kBadInputs),
                         [](const auto& test) { return test.param.name; });

struct BadSchedule {
  std::string name;
  std::string content;
  std::string message;
};

void PrintTo(const BadSchedule& bad, std::ostream* out) {
  *out << bad.name;
}

class RefusedSchedule : public ::testing::TestWithParam<BadSchedule> {};

TEST_P(RefusedSchedule, NamesFileLineAndValue) {
  const TemporaryFolder folder;
  folder.write("sigmas.txt", GetParam().content);
  expect_refused(run_ration("account --sampling full --schedule sigmas.txt --delta 1e-5", folder.path()),
                 GetParam().message);
}

const BadSchedule kBadSchedules[] = {
    {"Empty", "", "sigmas.txt: no noise multiplier found"},
    {"OnlyComments", "# nothing\n\n", "sigmas.txt: no noise multiplier found"},
    {"Word", "20\n# comment\nabc\n", "sigmas.txt:3: expected noise > 0, got 'abc'"},
    {"Negative", "20\n-3\n", "sigmas.txt:2: expected noise > 0, got '-3'"},
    {"Nan", "nan\n", "sigmas.txt:1: expected noise > 0, got 'nan'"},
    {"BadCount", "20 x 0\n", "sigmas.txt:1: expected a whole number with 1 <= count <= 1e12, got '0'"},
    {"TooManyColumns", "20 x 3 4\n", "sigmas.txt:1: expected 'NOISE', 'NOISE COUNT' or 'NOISE x COUNT'"},
};

INSTANTIATE_TEST_SUITE_P(BadInput, RefusedSchedule, ::testing::ValuesIn(kBadSchedules),
                         [](const auto& test) { return test.param.name; });

TEST(OurOwnFailure, IsExitStatusThree) {
  const Finished finished =
      run_program("/bin/sh", {"-c", std::string(RATION_BINARY) + " " + kGood + " > /dev/full"});
  EXPECT_EQ(finished.exit_code, 3);
  EXPECT_THAT(finished.err, StartsWith("ration: cannot write to standard output"));
}

}  // namespace
}  // namespace ration::testing
