#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <sstream>
#include <thread>

#include "cli/refusal.h"
#include "compare/comparisons.h"
#include "pictures/compare_plots.h"
#include "plot/png.h"
#include "support/places.h"
#include "support/ration_command.h"
#include "text/compare_progress.h"

namespace ration::testing {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TEST(CompareCommand, WritesTablesAndPlotsAndPrintsOneObject) {
  const CensusFolder census;
  const json out = ration_json("compare --plan compare.toml --out cmp", census.path());
  EXPECT_EQ(out["finished"], true);
  EXPECT_EQ(out["jobs"], 30);
  EXPECT_THAT(out["warning"].get<std::string>(), StartsWith("NOT PRIVATE"));
  ASSERT_EQ(out["results"].size(), 6u);
  for (const char* key :
       {"epsilon", "delta", "accountant", "relation", "noise_multiplier", "steps", "accuracy", "loss",
        "method", "seconds", "objective", "epsilon_spent", "auc", "log_loss"})
    EXPECT_FALSE(out["results"][0][key].is_null()) << key;
  for (const char* kind : {"accuracy", "auc", "log_loss", "objective", "trace"}) {
    const std::string name = std::string("cmp/") + kind + "-census-logistic";
    EXPECT_THAT(census.read(name + ".svg"), StartsWith("<svg"));
    EXPECT_EQ(std::filesystem::exists(census.file(name + ".png")), plot::can_draw_png());
  }
  EXPECT_EQ(json::parse(census.read("cmp/results.json")), out);
}

TEST(CompareCommand, FlagsWinOverTheFile) {
  const CensusFolder census;
  const json out = ration_json(
      "compare --plan compare.toml --methods adam --epsilons 1,3,9 --folds 2 --repeats 1 --delta 1e-5 "
      "--models hinge "
      "--no-plots --out cmp",
      census.path());
  EXPECT_EQ(out["jobs"], 6);
  EXPECT_EQ(out["delta"], 1e-5);
  EXPECT_EQ(out["epsilons"], (std::vector<double>{1, 3, 9}));
  EXPECT_EQ(out["models"], (std::vector<std::string>{"hinge"}));
  EXPECT_FALSE(std::filesystem::exists(census.file("cmp/accuracy-census-hinge.svg")));
}

TEST(CompareCommand, WorksWithoutAFile) {
  const CensusFolder census;
  const json out = ration_json(
      "compare --data census.csv --schema census.toml --public --methods dpsgd --epsilons 2 --delta 1e-6 "
      "--folds 2 "
      "--out cmp",
      census.path());
  EXPECT_EQ(out["data"], (std::vector<std::string>{"census"}));
  EXPECT_EQ(out["models"], (std::vector<std::string>{"logistic"}));
  EXPECT_EQ(out["results"][0]["runs"], 2);
}

TEST(CompareCommand, TakesTheModelOfTheLabelIfNoneIsNamed) {
  const CensusFolder census;
  data::Schema schema = data::census_schema();
  schema.label = "schooling";
  census.write("school.toml", data::to_toml(schema));
  for (const std::string models : {"", " --models auto"}) {
    const json out = ration_json(
        "compare --data census.csv --schema school.toml --public --methods majority "
        "--epsilons 2 --delta 1e-6 --folds 2 --no-plots --out cmp" +
            models,
        census.path());
    EXPECT_EQ(out["models"], (std::vector<std::string>{"softmax"})) << models;
  }
}

TEST(CompareCommand, PrintsATableWithAWarningOnTop) {
  const CensusFolder census;
  const Finished done = run_ration("compare --plan compare.toml --out cmp", census.path());
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_EQ(done.err, "");
  EXPECT_THAT(done.out, StartsWith("NOT PRIVATE: these figures are computed from the rows themselves"));
  EXPECT_THAT(done.out,
              AllOf(HasSubstr("census, logistic: Test accuracy in percent\nmethod"), HasSubstr("eps 0.5"),
                    HasSubstr(" +- "), HasSubstr("census, logistic: Test AUC\nmethod"),
                    HasSubstr("census, logistic: Test log loss\nmethod")));
  EXPECT_EQ(run_ration("compare --plan compare.toml --out cmp --quiet", census.path()).out, "");
}

TEST(CompareCommand, TellsWhichMethodsWereRefused) {
  const CensusFolder census;
  census.write("compare.toml", CensusFolder::text() + "[methods.poor]\nmethod = 'dpsgd'\nnoise = 0.5\n");
  const Finished done = run_ration("compare --plan compare.toml --out cmp", census.path());
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_THAT(done.out, HasSubstr("refused: poor: the plan would spend epsilon"));
}

TEST(CompareCommand, InterruptedItExitsWith130AndGoesOn) {
  const CensusFolder census(3000);
  census.write("long.toml", CensusFolder::text() + "[methods.long]\nmethod = 'dpsgd'\nsteps = 2000\n");
  RunningProgram running(RATION_BINARY, {"compare", "--plan", "long.toml", "--out", "cmp", "--threads", "1"},
                         census.path());
  const auto jobs_done = [&] {
    if (!std::filesystem::exists(census.file("cmp/runs.csv"))) return std::ptrdiff_t{0};
    const std::string runs = census.read("cmp/runs.csv");
    return std::count(runs.begin(), runs.end(), '\n') - 1;
  };
  while (!running.has_ended() && jobs_done() < 3) std::this_thread::sleep_for(std::chrono::milliseconds(2));
  running.signal(SIGINT);
  const Finished stopped = running.wait();
  EXPECT_EQ(stopped.exit_code, 130);
  EXPECT_THAT(stopped.err, HasSubstr("jobs; run the same command again to continue"));
  EXPECT_THAT(census.read("cmp/results.md"), HasSubstr("Not finished"));
  const json out = ration_json("compare --plan long.toml --out cmp", census.path());
  EXPECT_EQ(out["jobs_done"], 42);
}

// --- public rows only

constexpr const char* kOneMethod =
    "--data census.csv --schema census.toml --methods dpsgd --epsilons 2 --delta 1e-6 --folds 2 --out cmp";

TEST(CompareCommand, AsksWhetherTheRowsArePublic) {
  const CensusFolder census;
  expect_refused(run_ration(std::string("compare ") + kOneMethod, census.path()),
                 "compare: are these rows public?");
  const std::string silent = CensusFolder::text().substr(CensusFolder::text().find("epsilons"));
  census.write("silent.toml", silent);
  expect_refused(run_ration("compare --plan silent.toml --out cmp", census.path()), "are these rows public?");
  census.write("denied.toml", "public = false\n" + silent);
  expect_refused(run_ration("compare --plan denied.toml --out cmp", census.path()), "are these rows public?");
  EXPECT_FALSE(std::filesystem::exists(census.file("cmp")));
  EXPECT_EQ(ration_json("compare --plan silent.toml --public --out cmp", census.path())["finished"], true);
}

// A file speaks for the rows that it names, not for others.
TEST(CompareCommand, RowsThatFlagsNameAreNotPublicByTheFile) {
  const CensusFolder census;
  const std::string line = std::string("compare --plan compare.toml ") + kOneMethod;
  expect_refused(run_ration(line, census.path()), "are these rows public?");
  EXPECT_EQ(ration_json(line + " --public", census.path())["finished"], true);
}

TEST(CompareCommand, AFileNeedsItsSchema) {
  const CensusFolder census;
  expect_refused(run_ration("compare --data census.csv --methods dpsgd --out cmp", census.path()),
                 "--data: unknown data set 'census.csv'; a file needs --schema FILE\n");
  expect_refused(run_ration("compare --plan compare.toml --data census.csv --out cmp", census.path()),
                 "unknown data set 'census.csv'; there are census; a file needs --schema FILE\n");
}

TEST(CompareCommand, RowsThatALedgerKnowsAreNotPublic) {
  const CensusFolder census;
  ration_json("ledger init budget.db --data census.csv --epsilon 1 --delta 1e-6", census.path());
  const std::string compare = "compare --plan compare.toml --public --out cmp --ledger ";
  expect_refused(run_ration(compare + "budget.db", census.path()),
                 "budget.db: not public: it has a budget for the rows of data set 'census'");
  census.write("other.csv", "age\n17\n");
  census.write("pair.toml", CensusFolder::text() +
                                "[data.pair]\nfiles = ['other.csv', 'census.csv']\n"
                                "schema = 'census.toml'\n");
  expect_refused(
      run_ration("compare --plan pair.toml --data pair --out cmp --ledger budget.db", census.path()),
      "the rows of data set 'pair'");
  expect_refused(run_ration(compare + "none.db", census.path()), "none.db: cannot open");
  EXPECT_FALSE(std::filesystem::exists(census.file("cmp")));
  ration_json("ledger init second.db --data other.csv --epsilon 1 --delta 1e-6", census.path());
  EXPECT_EQ(ration_json(compare + "second.db", census.path())["finished"], true);
}

struct BadLine {
  std::string name;
  std::string flags;
  std::string message;
};
void PrintTo(const BadLine& bad, std::ostream* out) {
  *out << bad.name;
}
class CompareRefuses : public ::testing::TestWithParam<BadLine> {};

TEST_P(CompareRefuses, WithOneLine) {
  const CensusFolder census;
  expect_refused(run_ration("compare " + GetParam().flags, census.path()), GetParam().message);
  EXPECT_FALSE(std::filesystem::exists(census.file("cmp")));
}

const std::string kGood = "--plan compare.toml --out cmp ";
const BadLine kBadLines[] = {
    {"NoOut", "--plan compare.toml", "--out is needed"},
    {"NoFile", "--plan none.toml --out cmp", "none.toml"},
    {"NothingGiven", "--out cmp", "--data is needed"},
    {"NoMethods", "--data census.csv --schema census.toml --out cmp", "--methods is needed"},
    {"UnknownMethod", kGood + "--methods magic", "got 'magic'; the file has plain, adam, free"},
    {"UnknownData", kGood + "--data moon", "--data: unknown data set 'moon'; there are census"},
    {"UnknownModel", kGood + "--models tree", "--models: expected one of auto, logistic"},
    {"EmptyName", kGood + "--methods plain,,adam", "--methods: expected names separated by commas"},
    {"EpsilonText", kGood + "--epsilons 1,x", "--epsilons: expected epsilon > 0, got 'x'"},
    {"EpsilonNegative", kGood + "--epsilons -1", "--epsilons: expected epsilon > 0, got '-1'"},
    {"EpsilonTwice", kGood + "--epsilons 1,1", "epsilon 1 is there twice"},
    {"DeltaTwo", kGood + "--delta 2", "--delta: expected 0 < delta < 1, got '2'"},
    {"FoldsOne", kGood + "--folds 1", "expected 2 <= folds"},
    {"FoldsText", kGood + "--folds many", "--folds"},
    {"RepeatsZero", kGood + "--repeats 0", "--repeats"},
    {"ThreadsZero", kGood + "--threads 0", "--threads"},
    {"SchemaWithoutData", "--schema census.toml --methods dpsgd --out cmp", "--schema describes the files"},
    {"NoSuchData",
     "--data none.csv --schema census.toml --public --methods dpsgd --epsilons 1 --delta 0.1 --out cmp",
     "none.csv: no such file"},
    {"NoEpsilons", "--data census.csv --schema census.toml --methods dpsgd --delta 0.1 --out cmp",
     "epsilons are needed"},
    {"NoDelta", "--data census.csv --schema census.toml --methods dpsgd --epsilons 1 --out cmp",
     "delta is needed"},
    {"UnknownFlag", kGood + "--fold 3", "compare: unknown flag '--fold'"},
};
INSTANTIATE_TEST_SUITE_P(Compare, CompareRefuses, ::testing::ValuesIn(kBadLines),
                         [](const auto& info) { return info.param.name; });

TEST(CompareCommand, MoreFoldsThanRowsAreRefused) {
  const CensusFolder census(20);
  expect_refused(run_ration("compare --plan compare.toml --out cmp --folds 21", census.path()),
                 "2 <= folds <= 20");
}

TEST(CompareCommand, AnotherComparisonInTheFolderIsRefused) {
  const CensusFolder census;
  EXPECT_EQ(run_ration("compare --plan compare.toml --out cmp --quiet", census.path()).exit_code, 0);
  expect_refused(run_ration("compare --plan compare.toml --out cmp --delta 1e-7", census.path()),
                 "'delta = 1e-06', now it would be 'delta = 1e-07'");
}

// --- progress and pictures

TEST(CompareProgressBar, TellsJobsTimeLeftAndTheMethod) {
  compare::CompareProgress progress{.done = 60, .total = 100, .done_before = 40};
  progress.running = {.data = "adult", .model = "svm", .method = "blsgd"};
  EXPECT_EQ(cli::progress_line(progress, 10),
            "60 of 100 jobs [##############----------]  60 %  20 s left  adult svm blsgd");
  progress.done_before = 60;
  EXPECT_THAT(cli::progress_line(progress, 10), Not(HasSubstr("left")));
  progress.done_before = 59;
  EXPECT_THAT(cli::progress_line(progress, 60), HasSubstr("40 min left"));
  EXPECT_THAT(cli::progress_line(progress, 600), HasSubstr("6.7 h left"));
}

compare::Results some_results() {
  const CensusFolder census;
  compare::Comparison comparison = census.comparison();
  std::vector<compare::Run> runs;
  for (const compare::Job& job : compare::jobs_of(comparison)) {
    compare::Run run{.name = compare::name_of(job, comparison)};
    run.accuracy = 0.8 + 0.01 * static_cast<double>(job.fold);
    run.objective = 0.4;
    if (run.name.method == "adam") run.refused = "no";
    runs.push_back(run);
  }
  compare::Trace trace{.name = {.data = "census", .model = "logistic", .method = "plain", .epsilon = 2},
                       .points = {}};
  for (int step = 1; step <= 5; ++step)
    trace.points.push_back(
        {.step = step, .budget_share = 0.2 * step, .learning_rate = 1.0 / step, .noise = 3});
  return compare::results_of(comparison, runs, {trace});
}

TEST(ComparePlots, AccuracyIsInPercentWithErrorsAndTheNonPrivateAsReference) {
  const plot::Chart chart =
      cli::measure_chart(some_results(), "census", "logistic", compare::kTestMeasures[0]);
  ASSERT_EQ(chart.lines.size(), 2u);  // what was refused has no line
  EXPECT_EQ(chart.lines[0].label, "plain");
  EXPECT_EQ(chart.lines[0].x, (std::vector<double>{0.5, 2}));
  EXPECT_NEAR(chart.lines[0].y[0], 81, 1e-9);
  EXPECT_NEAR(chart.lines[0].error[0], 100 * std::sqrt(4e-4 / 5 / 6), 1e-9);
  EXPECT_TRUE(chart.lines[1].reference);
  EXPECT_FALSE(chart.lines[0].reference);
  EXPECT_THAT(chart.subtitle, HasSubstr("3 folds x 2 repeats, delta 1e-06"));
  EXPECT_EQ(chart.title, "Test accuracy in percent: census, logistic");
  EXPECT_EQ(chart.y_label, "accuracy, percent");
  const plot::Chart objective = cli::measure_chart(some_results(), "census", "logistic", compare::kObjective);
  EXPECT_NEAR(objective.lines[0].y[1], 0.4, 1e-9);
}

TEST(ComparePlots, TracesAreBudgetStepAndNoiseByEpsilon) {
  const plot::ChartGrid grid = cli::trace_charts(some_results(), "census", "logistic");
  EXPECT_EQ(grid.columns, 2u);
  ASSERT_EQ(grid.charts.size(), 6u);
  EXPECT_EQ(grid.charts[1].title, "budget spent, percent, epsilon 2");
  EXPECT_TRUE(grid.charts[0].lines[0].x.empty());
  EXPECT_NEAR(grid.charts[1].lines[0].y[4], 100, 1e-9);
  EXPECT_EQ(grid.charts[3].lines[0].y[1], 0.5);
  EXPECT_EQ(grid.charts[5].lines[0].y[0], 3);
  const std::string svg = plot::to_svg(grid);
  EXPECT_THAT(svg,
              AllOf(HasSubstr("step size, epsilon 0.5"), HasSubstr("noise of the mean gradient, epsilon 2")));
}

TEST(Png, IsAPictureOfTheSvg) {
  if (!plot::can_draw_png()) GTEST_SKIP() << "built without librsvg";
  const std::string svg =
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"30\" height=\"20\"><rect width=\"9\" "
      "height=\"9\"/></svg>";
  const std::string png = plot::svg_to_png(svg, 2);
  EXPECT_THAT(png, StartsWith("\x89PNG"));
  EXPECT_EQ(static_cast<unsigned char>(png[19]), 60);  // the width, in the header
  EXPECT_EQ(static_cast<unsigned char>(png[23]), 40);
  EXPECT_ANY_THROW(plot::svg_to_png("no picture"));
}

}  // namespace
}  // namespace ration::testing
