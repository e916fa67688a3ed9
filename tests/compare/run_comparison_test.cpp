#include "compare/run_comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <filesystem>
#include <set>

#include "compare/comparisons.h"
#include "compare/folder.h"
#include "compare/job_inputs.h"
#include "compare/make_once.h"
#include "ration/base/error.h"
#include "support/small_table.h"

namespace ration::testing {
namespace {

using namespace ration::compare;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;

std::multiset<std::string> jobs_in(const std::string& runs_csv) {
  std::multiset<std::string> jobs;
  std::istringstream lines(runs_csv);
  std::string line;
  std::getline(lines, line);
  while (std::getline(lines, line)) {
    std::size_t end = 0;
    for (int comma = 0; comma < 6; ++comma) end = line.find(',', end) + 1;
    jobs.insert(line.substr(0, end));
  }
  return jobs;
}

TEST(Jobs, AreRepeatMajorAndEachIsThereOnce) {
  const Comparison comparison = CensusFolder().comparison();
  const std::vector<Job> jobs = jobs_of(comparison);
  ASSERT_EQ(jobs.size(), 30u);
  std::set<RunName> names;
  for (const Job& job : jobs) names.insert(name_of(job, comparison));
  EXPECT_EQ(names.size(), 30u);
  EXPECT_TRUE(std::is_sorted(jobs.begin(), jobs.end(),
                             [](const Job& a, const Job& b) { return a.repeat < b.repeat; }));
  EXPECT_EQ(std::count_if(jobs.begin(), jobs.end(), [](const Job& job) { return !job.epsilon; }), 6);
}

TEST(Jobs, AllDataSetsHaveOneRepeatBeforeAnyHasTwo) {
  Comparison comparison = CensusFolder().comparison();
  comparison.data.push_back(comparison.data[0]);
  const std::vector<Job> jobs = jobs_of(comparison);
  EXPECT_TRUE(std::is_sorted(jobs.begin(), jobs.end(),
                             [](const Job& a, const Job& b) { return a.repeat < b.repeat; }));
  EXPECT_EQ(jobs[29].data, 1u);
  EXPECT_EQ(jobs[29].repeat, 0u);
}

TEST(RunComparison, LeavesEveryJobAndItsResults) {
  const CensusFolder census;
  const Results results = run_comparison(census.comparison(), {.out = census.file("out"), .threads = 2});
  EXPECT_TRUE(results.finished());
  EXPECT_EQ(jobs_in(census.read("out/runs.csv")).size(), 30u);
  EXPECT_EQ(results.cells.size(), 6u);
  for (const Cell& cell : results.cells) {
    EXPECT_EQ(cell.runs, 6u);
    EXPECT_GE(cell.accuracy.mean, 0);
    EXPECT_LE(cell.accuracy.mean, 1);
    EXPECT_GE(cell.auc.mean, 0);
    EXPECT_LE(cell.auc.mean, 1);
    EXPECT_EQ(cell.log_loss.mean, cell.loss.mean);
    EXPECT_GT(cell.objective.mean, 0);
    EXPECT_EQ(cell.steps, 4);
    EXPECT_GT(cell.seconds.mean, 0);
    EXPECT_EQ(cell.epsilon_spent.has_value(), cell.is_private);
    if (cell.is_private) {
      EXPECT_NEAR(*cell.epsilon_spent, cell.epsilon, 1e-6 * cell.epsilon);
    }
  }
  EXPECT_EQ(results.traces.size(), 5u);
  for (const Trace& trace : results.traces) EXPECT_EQ(trace.points.size(), 4u);
  for (const char* name : {"results.csv", "results.json", "results.md", "trace.csv", "comparison.toml"})
    EXPECT_TRUE(std::filesystem::exists(census.file(std::string("out/") + name))) << name;
}

// A model of the census is right about 85 of 100; the larger class has 76. Rows and folds are fixed and the
// noise is negligible, so that the outcome is always the same.
TEST(RunComparison, WithHardlyAnyNoiseModelsAreRight) {
  const CensusFolder census;
  Comparison comparison = census.comparison();
  comparison.epsilons = {1e6};
  comparison.plan = {{"steps", "60", "here"}};
  comparison.methods.resize(1);
  const Results results = run_comparison(comparison, {.out = census.file("out")});
  const Cell& cell = results.cells[0];
  EXPECT_GT(cell.accuracy.mean, 0.72);
  EXPECT_LT(cell.accuracy.mean, 0.95);
  EXPECT_GT(cell.auc.mean, 0.75);
  EXPECT_LT(cell.log_loss.mean, 0.5);
  EXPECT_LT(cell.objective.mean, cell.loss.mean);  // better about rows it was trained on
}

// All weights are as good as 0, so that losses are known: log 2 if logistic, 1 if hinge.
TEST(RunComparison, ObjectivesAreMeasuredByTheModelsOwnLoss) {
  const CensusFolder census;
  Comparison comparison = census.comparison();
  comparison.plan.push_back({"lr", "1e-12", "here"});
  comparison.models[0].smooth = Settings{{"model", "hinge", "here"}};
  comparison.methods.resize(1);
  comparison.methods[0].smooth = true;
  for (const Cell& cell : run_comparison(comparison, {.out = census.file("out")}).cells) {
    EXPECT_NEAR(cell.objective.mean, std::log(2), 1e-6);
    EXPECT_NEAR(cell.loss.mean, std::log(2), 1e-6);
  }
}

// A margin is no probability.
TEST(RunComparison, ASupportVectorMachineHasNoLogLoss) {
  const CensusFolder census;
  Comparison comparison = census.comparison();
  comparison.models[0].settings = {{"model", "hinge", "here"}};
  comparison.methods.resize(1);
  for (const Cell& cell : run_comparison(comparison, {.out = census.file("out")}).cells) {
    EXPECT_EQ(cell.log_loss.runs, 0u);
    EXPECT_EQ(cell.auc.runs, 6u);
  }
}

// Hours of work by age and the like: little can be said of them, and R^2 is just above 0. Rows and folds are
// fixed, and so is the fit.
TEST(RunComparison, NumbersAreComparedByTheirError) {
  const CensusFolder census(3000);
  std::string schema = census.read("census.toml");
  schema.replace(schema.find("label = \"income\""), 16, "label = \"hours\"");
  census.write("census.toml", schema);
  Comparison comparison = census.comparison();
  comparison.models[0].settings = {{"model", "squared", "here"}};
  comparison.methods.resize(1);
  comparison.methods[0].settings = {{"method", "nonprivate", "here"}};
  const Results results = run_comparison(comparison, {.out = census.file("out")});
  const Cell& cell = results.cells[0];
  EXPECT_EQ(cell.accuracy.runs, 0u);
  EXPECT_EQ(cell.auc.runs, 0u);
  EXPECT_EQ(cell.r2.runs, 6u);
  EXPECT_GT(cell.r2.mean, 0.05);
  EXPECT_LT(cell.r2.mean, 1);
  EXPECT_GT(cell.mean_absolute_error.mean, 1);
  EXPECT_LT(cell.mean_absolute_error.mean, 20);
  EXPECT_THAT(census.read("out/results.md"), HasSubstr("Test R^2, by epsilon"));
}

TEST(RunComparison, ALongTraceIsThinnedFromFirstToLast) {
  const CensusFolder census(30);
  Comparison comparison = census.comparison();
  comparison.plan = {{"steps", "1000", "here"}};
  comparison.methods.resize(1);
  const auto traces = run_comparison(comparison, {.out = census.file("out")}).traces;
  ASSERT_EQ(traces.size(), 2u);
  EXPECT_EQ(traces[0].points.size(), 200u);
  EXPECT_EQ(traces[0].points.front().step, 1);
  EXPECT_EQ(traces[0].points.back().step, 1000);
  EXPECT_NEAR(traces[0].points.back().budget_share, 1, 1e-6);
  EXPECT_GT(traces[0].points[0].noise, 0);
}

TEST(RunComparison, StoppedItGoesOnToTheSameSetOfJobs) {
  const CensusFolder census;
  const Comparison comparison = census.comparison();
  run_comparison(comparison, {.out = census.file("whole")});
  std::atomic<bool> stop = false;
  std::size_t stopped_at = 0;
  const auto stop_at_seven = [&](const CompareProgress& progress) {
    stopped_at = progress.done;
    if (progress.done == 7) stop = true;
  };
  const Results first = run_comparison(
      comparison, {.out = census.file("parts"), .threads = 1, .stop = &stop, .on_progress = stop_at_seven});
  EXPECT_FALSE(first.finished());
  EXPECT_EQ(stopped_at, 7u);
  EXPECT_EQ(jobs_in(census.read("parts/runs.csv")).size(), 7u);
  const std::string begun = census.read("parts/runs.csv");

  CompareProgress seen;
  const Results second = run_comparison(
      comparison, {.out = census.file("parts"), .on_progress = [&](const CompareProgress& p) { seen = p; }});
  EXPECT_TRUE(second.finished());
  EXPECT_EQ(seen.done_before, 7u);
  EXPECT_EQ(seen.done, 30u);
  EXPECT_EQ(jobs_in(census.read("parts/runs.csv")), jobs_in(census.read("whole/runs.csv")));
  EXPECT_THAT(census.read("parts/runs.csv"), ::testing::StartsWith(begun));
  EXPECT_EQ(second.traces.size(), 5u);

  const std::string done = census.read("parts/runs.csv");
  EXPECT_TRUE(run_comparison(comparison, {.out = census.file("parts")}).finished());
  EXPECT_EQ(census.read("parts/runs.csv"), done);  // nothing is done twice
}

TEST(RunComparison, ATornLineIsDoneAgain) {
  const CensusFolder census;
  const Comparison comparison = census.comparison();
  run_comparison(comparison, {.out = census.file("out")});
  const std::string whole = census.read("out/runs.csv");
  const std::string trace = census.read("out/trace.csv");
  for (const std::size_t cut :
       {whole.size() - 1, whole.size() - 2, whole.size() - 30, whole.rfind('\n', whole.size() - 2) + 1}) {
    census.write("out/runs.csv", whole.substr(0, cut));
    census.write("out/trace.csv", trace.substr(0, trace.size() - 5));
    const Results results = run_comparison(comparison, {.out = census.file("out")});
    EXPECT_TRUE(results.finished());
    EXPECT_EQ(jobs_in(census.read("out/runs.csv")), jobs_in(whole));
  }
}

TEST(RunComparison, ATraceWithoutItsJobIsDropped) {
  const CensusFolder census;
  const Comparison comparison = census.comparison();
  run_comparison(comparison, {.out = census.file("out")});
  const std::string runs = census.read("out/runs.csv");
  census.write("out/runs.csv", runs.substr(0, runs.find('\n') + 1));
  const Results results = run_comparison(comparison, {.out = census.file("out")});
  ASSERT_EQ(results.traces.size(), 5u);
  for (const Trace& trace : results.traces) EXPECT_EQ(trace.points.size(), 4u);
  const std::string trace = census.read("out/trace.csv");
  EXPECT_EQ(std::count(trace.begin(), trace.end(), '\n'), 1 + 5 * 4);
}

// A reason that was cut within a doubled quote reads like a whole one.
TEST(RunComparison, ALineWithoutItsEndIsTornWhateverItReadsLike) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/out";
  { Folder(path, "x").add({.name = {.data = "d", .model = "m", .method = "a"}, .refused = "no \"b\""}, {}); }
  EXPECT_EQ(Folder(path, "x").runs().size(), 1u);
  const std::string whole = read_whole_file(path + "/runs.csv");
  folder.write("out/runs.csv", whole + whole.substr(whole.find('\n') + 1));
  EXPECT_EQ(Folder(path, "x").runs().size(), 1u);  // a job counts once
  folder.write("out/runs.csv", whole.substr(0, whole.find("\"\"b") + 1));
  EXPECT_EQ(Folder(path, "x").runs().size(), 0u);
}

// Its runs are not thrown away.
TEST(RunComparison, RunsOfAnotherVersionAreRefused) {
  const CensusFolder census;
  const Comparison comparison = census.comparison();
  run_comparison(comparison, {.out = census.file("out")});
  const std::string old = "data,model,method\nd,m,a\n";
  census.write("out/runs.csv", old);
  EXPECT_THAT(refusal([&] { run_comparison(comparison, {.out = census.file("out")}); }),
              HasSubstr("its columns are those of another version of ration"));
  EXPECT_EQ(census.read("out/runs.csv"), old);
}

TEST(RunComparison, AnotherComparisonIsRefusedWithWhatDiffers) {
  const CensusFolder census;
  Comparison comparison = census.comparison();
  run_comparison(comparison, {.out = census.file("out")});
  comparison.folds = 4;
  EXPECT_THAT(
      refusal([&] { run_comparison(comparison, {.out = census.file("out")}); }),
      AllOf(HasSubstr("holds another comparison"), HasSubstr("'folds = 3'"), HasSubstr("'folds = 4'")));
}

TEST(RunComparison, OtherRowsAreAnotherComparison) {
  const CensusFolder census;
  run_comparison(census.comparison(), {.out = census.file("out")});
  const CensusFolder other(301);
  census.write("census.csv", other.read("census.csv"));
  EXPECT_THAT(refusal([&] { run_comparison(census.comparison(), {.out = census.file("out")}); }),
              AllOf(HasSubstr("holds another comparison"), HasSubstr("# census: contents")));
}

TEST(RunComparison, AFolderInUseIsRefused) {
  const CensusFolder census;
  const Folder folder(census.file("out"), "x");
  EXPECT_THAT(refusal([&] { Folder(census.file("out"), "x"); }), HasSubstr("another process is at work"));
}

TEST(RunComparison, FilesOfSomethingElseAreNotOverwritten) {
  const CensusFolder census;
  std::filesystem::create_directory(census.file("out"));
  census.write("out/runs.csv", "mine");
  EXPECT_THAT(refusal([&] { run_comparison(census.comparison(), {.out = census.file("out")}); }),
              HasSubstr("out/runs.csv: is there already"));
  EXPECT_EQ(census.read("out/runs.csv"), "mine");
}

TEST(RunComparison, APlanThatIsRefusedDoesNotHinderTheOthers) {
  const CensusFolder census;
  census.write("compare.toml", CensusFolder::text() + "[methods.poor]\nmethod = 'dpsgd'\nnoise = 0.5\n");
  const Results results = run_comparison(census.comparison(), {.out = census.file("out")});
  EXPECT_TRUE(results.finished());
  const Cell& poor = *results.find("census", "logistic", "poor", 0.5);
  EXPECT_EQ(poor.runs, 0u);
  EXPECT_THAT(poor.refused, HasSubstr("more than its budget of 0.5"));
  EXPECT_EQ(results.find("census", "logistic", "plain", 0.5)->runs, 6u);
}

TEST(RunComparison, IfEveryPlanIsRefusedItSaysWhy) {
  const CensusFolder census;
  Comparison comparison = census.comparison();
  comparison.plan.push_back({"noise", "0.5", "here"});
  EXPECT_THAT(refusal([&] { run_comparison(comparison, {.out = census.file("out")}); }),
              AllOf(HasSubstr("every plan was refused"), HasSubstr("more than its budget")));
}

TEST(RunComparison, RefusesWhatCannotBeCompared) {
  const CensusFolder census;
  const auto refused_with = [&](const auto& change) {
    Comparison comparison = census.comparison();
    change(comparison);
    const std::string said = refusal([&] { run_comparison(comparison, {.out = census.file("never")}); });
    EXPECT_FALSE(std::filesystem::exists(census.file("never/comparison.toml"))) << said;
    return said;
  };
  EXPECT_THAT(refused_with([](Comparison& c) { c.data[0].files = {"none.csv"}; }),
              HasSubstr("none.csv: no such file"));
  EXPECT_THAT(refused_with([](Comparison& c) { c.data[0].schema = "none.toml"; }),
              HasSubstr("none.toml: no such file"));
  EXPECT_THAT(refused_with([](Comparison& c) {
                c.models[0].settings = {{"model", "squared", "m"}};
              }),
              HasSubstr("needs a numeric label"));
  census.write("census.toml",
               "label = 'age'\ncolumns = [{ name = 'age', type = 'number', low = 0, high = 99 }]\n");
  EXPECT_THAT(refused_with([](Comparison&) {}),
              HasSubstr("loss 'logistic' needs classes, but label 'age' is a number"));
}

TEST(RunComparison, RowsThatCannotBeReadEndIt) {
  const CensusFolder census;
  census.write("census.csv", census.read("census.csv") + "nonsense\n");
  EXPECT_THAT(
      refusal([&] { run_comparison(census.comparison(), {.out = census.file("out"), .threads = 2}); }),
      HasSubstr("census.csv:302: expected"));
}

// --- inputs of jobs

TEST(JobInputs, FoldsOfOneDataSetSpanItsFiles) {
  const CensusFolder census(50);
  Comparison comparison = census.comparison();
  comparison.data[0].files = {"census.csv", "census.csv"};
  JobInputs inputs(comparison);
  Held held;
  EXPECT_EQ(inputs.rows({}, {}, held).test->count() + inputs.rows({}, {}, held).train->count(), 100u - 1);
  EXPECT_EQ(held.data->rows, 100u);
}

TEST(JobInputs, JobsShareRowsAndForgetThem) {
  const CensusFolder census(60);
  const Comparison comparison = census.comparison();
  JobInputs inputs(comparison);
  Held first;
  Held second;
  EXPECT_EQ(inputs.rows({.method = 0}, {}, first).train, inputs.rows({.method = 1}, {}, second).train);
  EXPECT_NE(inputs.rows({.fold = 1}, {}, first).train, inputs.rows({.fold = 0}, {}, second).train);
  const auto norms = [&](std::size_t repeat) {
    const auto rows = inputs.rows({.repeat = repeat}, {}, first).test;
    return std::vector(rows->norms().begin(), rows->norms().end());
  };
  EXPECT_NE(norms(0), norms(1));  // each repeat has its own folds
  const std::weak_ptr<const Rows> rows = inputs.rows({.fold = 2}, {}, first).train;
  EXPECT_FALSE(rows.expired());
  inputs.rows({.fold = 0}, {}, first);
  EXPECT_TRUE(rows.expired());
}

TEST(JobInputs, RowsMayBeShortened) {
  const CensusFolder census(60);
  const Comparison comparison = census.comparison();
  JobInputs inputs(comparison);
  Held held;
  EXPECT_GT(*std::ranges::max_element(inputs.rows({}, {}, held).train->norms()), 1);
  const FoldRows shortened = inputs.rows({}, 0.5, held);
  EXPECT_LE(*std::ranges::max_element(shortened.train->norms()), 0.5);
  EXPECT_LE(*std::ranges::max_element(shortened.test->norms()), 0.5);
  EXPECT_EQ(inputs.rows({.method = 1}, 0.5, held).train, shortened.train);
}

TEST(JobInputs, APlanIsResolvedOnceForAllFolds) {
  const CensusFolder census(60);
  const Comparison comparison = census.comparison();
  JobInputs inputs(comparison);
  const auto plan = inputs.plan({.epsilon = 0}, 40);
  EXPECT_EQ(plan, inputs.plan({.epsilon = 0, .repeat = 1, .fold = 2}, 40));
  EXPECT_NE(plan, inputs.plan({.epsilon = 1}, 40));
  EXPECT_EQ(plan->plan->plan.rows, 40);
  EXPECT_EQ(plan->plan->budget.epsilon, 0.5);
}

TEST(MakeOnce, KeepsForGoodOrAsLongAsSomebodyHolds) {
  int made = 0;
  MakeOnce<int, int, std::shared_ptr> strong;
  MakeOnce<int, int, std::weak_ptr> weak;
  for (int i = 0; i < 3; ++i) EXPECT_EQ(*strong.get(1, [&] { return ++made; }), 1);
  for (int i = 2; i < 5; ++i) EXPECT_EQ(*weak.get(1, [&] { return ++made; }), i);
  const auto held = weak.get(1, [&] { return ++made; });
  EXPECT_EQ(weak.get(1, [&] { return ++made; }), held);
  EXPECT_THROW(strong.get(2, []() -> int { throw InputError("x"); }), InputError);
  EXPECT_EQ(*strong.get(2, [] { return 7; }), 7);
}

}  // namespace
}  // namespace ration::testing
