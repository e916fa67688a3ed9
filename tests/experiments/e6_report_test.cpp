// experiments/e6/report.py on runs whose means and differences are known.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "support/child_process.h"
#include "support/places.h"

namespace ration::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kRunColumns =
    "data,model,method,epsilon,repeat,fold,accuracy,loss,objective,seconds,steps,epsilon_spent,"
    "noise_multiplier,accountant,relation,auc,log_loss,r2,mean_absolute_error,refused\n";

// Two tables, 2 folds x 2 repeats. On adult, auto is .01, .02, .03, .04 above good; on the other table, .005
// below it. Method `never` was refused.
std::string made_up_runs() {
  std::string text = kRunColumns;
  const auto add = [&](const std::string& cell, int repeat, int fold, double accuracy, double auc) {
    text += cell + "," + std::to_string(repeat) + "," + std::to_string(fold) + "," +
            std::to_string(accuracy) + ",1,1,1,1,,,,," + std::to_string(auc) + ",,,,\n";
  };
  int place = 0;
  for (const int repeat : {1, 2}) {
    for (const int fold : {1, 2}) {
      add("adult,svm,good,0.5", repeat, fold, 0.80, 0.9);
      add("adult,svm,auto,0.5", repeat, fold, 0.81 + 0.01 * place++, 0.9);
      add("adult,svm,majority,0.5", repeat, fold, 0.75, 0.5);
      add("adult,svm,free,", repeat, fold, 0.9, 0.95);
      add("other,svm,good,0.5", repeat, fold, 0.90, 0.9);
      add("other,svm,auto,0.5", repeat, fold, 0.895, 0.9);
      add("other,svm,majority,0.5", repeat, fold, 0.70, 0.5);
      add("other,svm,free,", repeat, fold, 0.95, 0.95);
    }
  }
  return text + "adult,svm,never,0.5,1,1,,0,0,0,0,,,,,,,,,\"no\"\n";
}

constexpr const char* kResults =
    "data,model,method\nadult,svm,auto\nadult,svm,good\nadult,svm,never\nadult,svm,majority\nadult,svm,free\n"
    "other,svm,auto\nmean,svm,auto\n";

std::string report() {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder.path() + "/runs");
  folder.write("runs/runs.csv", made_up_runs());
  folder.write("runs/results.csv", kResults);
  folder.write("runs/results.md", "");
  const Finished done = run_program(
      "/bin/sh", {"-c", "python3 -B " RATION_SOURCE_DIR "/experiments/e6/report.py runs runs out"},
      folder.path());
  EXPECT_EQ(done.exit_code, 0) << done.err;
  return done.exit_code == 0 ? read_whole_file(folder.path() + "/out/report.md") : "";
}

bool has_python() {
  return run_program("/bin/sh", {"-c", "command -v python3"}).exit_code == 0;
}

TEST(E6Report, TellsMeansAndTheBestPrivateMethod) {
  if (!has_python()) GTEST_SKIP() << "no python3";
  EXPECT_THAT(report(), AllOf(HasSubstr("mean over the four tables of E1\n\n| method | 0.5 |\n| --- | --- |\n"
                                        "| auto | **82.50** |\n| good | 80.00 |\n| never | - |\n"
                                        "| majority | 75.00 |\n| free | 90.00 |\n"),
                              HasSubstr("mean over all 2 tables\n\n| method | 0.5 |\n| --- | --- |\n"
                                        "| auto | **86.00** |\n| good | 85.00 |\n"),
                              Not(HasSubstr("svm, log loss: mean"))));
}

// Differences 1, 2, 3, 4 points: mean 2.5, deviation 1.291, and with 2 folds x 2 repeats the corrected
// interval is t(3) = 3.182 times 1.291 sqrt(1/4 + 1) = 4.593.
TEST(E6Report, PairsByFoldAndWidensTheInterval) {
  if (!has_python()) GTEST_SKIP() << "no python3";
  EXPECT_THAT(report(), AllOf(HasSubstr("| the best other | +2.50 ± 4.59 (good) |"),
                              HasSubstr("| adult | 0.5 | good | +2.50 ± 4.59 | +7.50 ± 4.59 |"),
                              HasSubstr("| the best other | +0.0000 ± 0.0000 (good) |")));
}

TEST(E6Report, NamesTheWorstTableFirst) {
  if (!has_python()) GTEST_SKIP() << "no python3";
  EXPECT_THAT(report(), AllOf(HasSubstr("| --- | --- | --- | --- | --- |\n"
                                        "| other | 0.5 | good | -0.50 ± 0.00 | +19.50 ± 0.00 |\n| adult |"),
                              HasSubstr("furthest below: adult at epsilon 0.5, +7.50 ± 4.59.")));
}

}  // namespace
}  // namespace ration::testing
