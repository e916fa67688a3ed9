#include "train/noise_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ration/train/resolve.h"
#include "schedules/noise_file.h"
#include "support/child_process.h"
#include "support/doubles.h"
#include "support/plans.h"
#include "support/small_table.h"
#include "train/runs.h"

namespace ration::testing {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;

const std::vector<double> kFalling = {8, 7, 6, 5, 4, 3, 2, 2, 2, 1};

class ScheduleFile : public ::testing::Test {
 protected:
  Plan plan() const {
    Plan plan;
    plan.method = "dpsgd";
    plan.rows = static_cast<double>(CensusFiles::kRows);
    plan.epsilon = 1;
    plan.delta = 1e-4;
    plan.data = files_.data();
    plan.schema = files_.schema();
    plan.schedule = path_;
    return plan;
  }

  CensusFiles files_;
  std::string path_ = files_.write("falling.csv", noise_file_text(kFalling));
};

TEST_F(ScheduleFile, IsAShapeThatIsScaledOntoTheBudget) {
  for (const double rate : {1.0, 0.1}) {
    Plan with_rate = plan();
    with_rate.rate = rate;
    const ResolvedPlan resolved = resolve(with_rate);
    EXPECT_EQ(resolved.steps(), 10);
    EXPECT_LE(resolved.cost.epsilon, 1);
    EXPECT_GE(resolved.cost.epsilon, 1 - 1e-3);
    EXPECT_EQ(resolved.schedule, kFalling);
    for (std::size_t t = 0; t < kFalling.size(); ++t) {
      EXPECT_DOUBLE_EQ(options_of(resolved).noise[t], resolved.noise_multiplier * kFalling[t]);
    }
    EXPECT_EQ(options_of(resolve(resolved.plan)).noise, options_of(resolved).noise) << "a fixed point";
  }
}

TEST_F(ScheduleFile, OfAnotherLengthThanThePlanIsRefused) {
  Plan other = plan();
  other.steps = 11;
  EXPECT_THAT(refusal([&] { resolve(other); }),
              HasSubstr("falling.csv has 10 steps, but the plan asks for 11"));
  other.steps = 10;
  EXPECT_EQ(resolve(other).steps(), 10);
}

TEST_F(ScheduleFile, InAPlanIsBesideIt) {
  const Plan read = read_plan(files_.write("plan.toml", "schedule = \"falling.csv\"\n"));
  EXPECT_EQ(read.schedule, path_);
  EXPECT_EQ(read_plan(files_.write("named.toml", "schedule = \"influence\"\n")).schedule, "influence");
}

TEST_F(ScheduleFile, ThatIsAbsentIsRefused) {
  Plan absent = plan();
  absent.schedule = files_.path() + "/no.csv";
  EXPECT_THAT(refusal([&] { resolve(absent); }), HasSubstr("no.csv: cannot read the schedule"));
}

// A run keeps its own copy: the original may change or go before the run is resumed.
TEST_F(ScheduleFile, IsKeptInTheRunsFolder) {
  SeededRandom random(1);
  std::atomic<bool> stop{true};
  const RunOptions options{.out = files_.run(), .stop = &stop};
  EXPECT_FALSE(train(plan(), options, random).finished);
  EXPECT_EQ(read_noise_per_step(files_.run() + "/schedule.csv"), kFalling);
  std::filesystem::remove(path_);

  const std::string copy = read_whole_file(files_.run() + "/schedule.csv");
  files_.write("run/schedule.csv", noise_file_text(std::vector<double>(10, 1.0)));
  EXPECT_THAT(refusal([&] { resume_run({.out = files_.run()}, random); }),
              ContainsRegex("schedule.csv .*was changed since the run began"));
  files_.write("run/schedule.csv", copy);

  const RunOutcome outcome = resume_run({.out = files_.run()}, random);
  EXPECT_TRUE(outcome.finished);
  EXPECT_EQ(outcome.plan.schedule, kFalling);
  expect_finished(files_.run());
}

TEST(Schedule, NamesAndFilesAreToldApart) {
  EXPECT_TRUE(ScheduleName("schedule.csv").is_file());
  EXPECT_TRUE(ScheduleName("runs/schedule").is_file());
  for (const ScheduleKind kind : every<ScheduleKind>()) {
    const ScheduleName shape(to_string(kind));
    EXPECT_FALSE(shape.is_file());
    EXPECT_EQ(shape.kind(), kind);
  }
  EXPECT_THAT(refusal([] { ScheduleName("--schedule", "steep"); }),
              HasSubstr("--schedule: expected one of uniform, exponential"));
  EXPECT_THAT(refusal([] { ScheduleName("--schedule", "influence:estimated"); }),
              HasSubstr("'ration schedule --shape influence:estimated --data PUBLIC.csv"));
}

}  // namespace
}  // namespace ration::testing
