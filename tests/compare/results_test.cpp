#include "compare/results.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "compare/comparisons.h"
#include "compare/run_lines.h"

namespace ration::testing {
namespace {

using namespace ration::compare;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

Comparison comparison() {
  Comparison out = CensusFolder().comparison();
  out.repeats = 1;
  return out;
}

compare::Run run_of(const std::string& method, std::optional<double> epsilon, std::size_t fold,
                    double accuracy) {
  compare::Run run{
      .name = {.data = "census", .model = "logistic", .method = method, .epsilon = epsilon, .fold = fold}};
  run.accuracy = accuracy;
  run.auc = accuracy / 2;
  if (method != "adam") run.log_loss = 3 * accuracy;
  run.loss = 2 * accuracy;
  run.objective = 1 - accuracy;
  run.seconds = 0.25;
  run.steps = static_cast<std::int64_t>(fold);
  if (epsilon) run.epsilon_spent = *epsilon * static_cast<double>(4 - fold) / 3;
  return run;
}

std::vector<compare::Run> some_runs() {
  std::vector<compare::Run> runs;
  for (std::size_t fold = 1; fold <= 3; ++fold) {
    const double more = 0.1 * static_cast<double>(fold);
    runs.push_back(run_of("plain", 0.5, fold, 0.5 + more));
    runs.push_back(run_of("plain", 2, fold, 0.6 + more));
    runs.push_back(run_of("adam", 2, fold, 0.4 + more));
    runs.push_back(run_of("free", std::nullopt, fold, 0.7 + more));
    runs.push_back(run_of("adam", 0.5, fold, 0));
    runs.back().refused = "no, \"never\"";
  }
  return runs;
}

Results some_results() {
  return results_of(comparison(), some_runs(), {});
}

TEST(Figure, IsMeanAndStandardError) {
  const Figure figure = figure_of({1, 2, 3, 6});
  EXPECT_DOUBLE_EQ(figure.mean, 3);
  EXPECT_DOUBLE_EQ(*figure.error, std::sqrt((4 + 1 + 0 + 9) / 3.0 / 4.0));
  EXPECT_FALSE(figure_of({5}).error);
  EXPECT_EQ(figure_of({5}).mean, 5);
  EXPECT_FALSE(figure_of({}).error);
}

TEST(Results, ACellAveragesItsRuns) {
  const Results results = some_results();
  const Cell& cell = *results.find("census", "logistic", "plain", 0.5);
  EXPECT_EQ(cell.runs, 3u);
  EXPECT_DOUBLE_EQ(cell.accuracy.mean, 0.7);
  EXPECT_NEAR(*cell.accuracy.error, 0.1 / std::sqrt(3.0), 1e-12);
  EXPECT_NEAR(cell.objective.mean, 0.3, 1e-12);
  EXPECT_DOUBLE_EQ(cell.loss.mean, 1.4);
  EXPECT_DOUBLE_EQ(cell.auc.mean, 0.35);
  EXPECT_NEAR(*cell.auc.error, 0.05 / std::sqrt(3.0), 1e-12);
  EXPECT_NEAR(cell.log_loss.mean, 2.1, 1e-12);
  EXPECT_DOUBLE_EQ(cell.steps, 2);
  EXPECT_DOUBLE_EQ(*cell.epsilon_spent, 0.5);  // the most that a run spent
  EXPECT_DOUBLE_EQ(cell.seconds.mean, 0.25);
}

// Neither of some runs nor of some data sets is a mean made up.
TEST(Results, WhatAModelHasNotIsNothing) {
  Comparison two = comparison();
  two.data.push_back(two.data[0]);
  two.data[1].name = "other";
  std::vector<compare::Run> runs = some_runs();
  for (compare::Run run : some_runs()) {
    run.name.data = "other";
    run.log_loss.reset();
    runs.push_back(run);
  }
  const Results results = results_of(two, runs, {});
  EXPECT_EQ(results.find("census", "logistic", "adam", 2)->log_loss.runs, 0u);
  EXPECT_EQ(results.find("census", "logistic", "plain", 2)->log_loss.runs, 3u);
  EXPECT_EQ(results.find("mean", "logistic", "plain", 2)->log_loss.runs, 0u);
  EXPECT_EQ(results.find("mean", "logistic", "plain", 2)->auc.runs, 6u);
  const auto json = nlohmann::json::parse(to_json(results));
  EXPECT_TRUE(json["results"][3]["log_loss"].is_null());
  EXPECT_TRUE(json["results"][0]["r2"].is_null());
  EXPECT_FALSE(results.has(kTestMeasures[3], "census", "logistic"));
  EXPECT_THAT(to_markdown(results), Not(HasSubstr("R^2")));
  EXPECT_THAT(to_markdown(results),
              HasSubstr("Test log loss, by epsilon\n\n| method | 0.5 | 2 |\n|---|---|---|\n"
                        "| plain | **2.1000 ± 0.1732** | **2.4000 ± 0.1732** |\n"
                        "| adam | - | - |\n"));
}

// 0.7 and 0.5 with errors of 0.1 / sqrt(3) each.
TEST(Results, DataSetsCountAlikeInTheirMean) {
  Comparison two = comparison();
  two.data.push_back(two.data[0]);
  two.data[1].name = "other";
  std::vector<compare::Run> runs = some_runs();
  for (compare::Run run : some_runs()) {
    run.name.data = "other";
    run.accuracy = *run.accuracy - 0.2;
    if (run.refused.empty()) runs.push_back(run);
  }
  const Results results = results_of(two, runs, {});
  const Cell& mean = *results.find("mean", "logistic", "plain", 0.5);
  EXPECT_EQ(mean.runs, 6u);
  EXPECT_NEAR(mean.accuracy.mean, 0.6, 1e-12);
  EXPECT_NEAR(*mean.accuracy.error, 0.1 / std::sqrt(6.0), 1e-12);
  EXPECT_EQ(results.find("mean", "logistic", "adam", 0.5)->runs, 0u);  // refused on one of them
  EXPECT_THAT(to_markdown(results), HasSubstr("## mean, logistic"));
}

TEST(Results, OneDataSetHasNoMean) {
  EXPECT_EQ(some_results().find("mean", "logistic", "plain", 0.5), nullptr);
}

TEST(Results, WhatDoesNotDependOnEpsilonIsRepeated) {
  const Results results = some_results();
  for (const double epsilon : {0.5, 2.0}) {
    const Cell& cell = *results.find("census", "logistic", "free", epsilon);
    EXPECT_DOUBLE_EQ(cell.accuracy.mean, 0.9);
    EXPECT_FALSE(cell.is_private);
    EXPECT_FALSE(cell.epsilon_spent);
  }
  EXPECT_EQ(results.jobs, 15u);
  EXPECT_EQ(results.jobs_done, 15u);
  EXPECT_EQ(results.find("census", "logistic", "plain", 3), nullptr);
}

TEST(Results, RefusedRunsAreToldAndDoNotCount) {
  const Results results = some_results();
  const Cell& cell = *results.find("census", "logistic", "adam", 0.5);
  EXPECT_EQ(cell.runs, 0u);
  EXPECT_EQ(cell.refused, "no, \"never\"");
  const std::string markdown = to_markdown(some_results());
  EXPECT_THAT(markdown, HasSubstr("| adam | - |"));
  EXPECT_THAT(markdown, HasSubstr("## Not run\n- census logistic adam at epsilon 0.5: no, \"never\""));
}

TEST(Results, TheBestPrivateMethodIsBold) {
  const std::string markdown = to_markdown(some_results());
  EXPECT_THAT(markdown, HasSubstr("| plain | **70.00 ± 5.77** | **80.00 ± 5.77** |"));
  EXPECT_THAT(markdown, HasSubstr("| adam | - | 60.00 ± 5.77 |"));
  EXPECT_THAT(markdown, HasSubstr("| free | 90.00 ± 5.77 | 90.00 ± 5.77 |"));
  EXPECT_THAT(markdown, HasSubstr("| plain | **0.3000 ± 0.0577** | **0.2000 ± 0.0577** |"));
  EXPECT_THAT(markdown, Not(HasSubstr("Not finished")));
}

TEST(Results, SayLoudlyThatTheyAreNotPrivate) {
  EXPECT_THAT(to_markdown(some_results()),
              HasSubstr("NOT PRIVATE: these figures are computed from the rows"));
  EXPECT_THAT(to_json(some_results()), HasSubstr("NOT PRIVATE: these figures are computed from the rows"));
}

TEST(Results, ThoseOfSomeJobsSaySo) {
  std::vector<compare::Run> runs = some_runs();
  runs.resize(4);
  const Results results = results_of(comparison(), runs, {});
  EXPECT_FALSE(results.finished());
  EXPECT_THAT(to_markdown(results), HasSubstr("Not finished: 4 of 15 jobs."));
  EXPECT_EQ(nlohmann::json::parse(to_json(results))["finished"], false);
}

TEST(Results, JsonHasStableKeys) {
  const auto json = nlohmann::json::parse(to_json(some_results()));
  std::set<std::string> keys;
  for (const auto& [key, value] : json["results"][0].items()) keys.insert(key);
  EXPECT_EQ(keys, (std::set<std::string>{"data",
                                         "model",
                                         "method",
                                         "private",
                                         "epsilon",
                                         "delta",
                                         "runs",
                                         "accuracy",
                                         "accuracy_error",
                                         "loss",
                                         "loss_error",
                                         "objective",
                                         "objective_error",
                                         "seconds",
                                         "steps",
                                         "epsilon_spent",
                                         "noise_multiplier",
                                         "accountant",
                                         "relation",
                                         "auc",
                                         "auc_error",
                                         "log_loss",
                                         "log_loss_error",
                                         "r2",
                                         "r2_error",
                                         "mean_absolute_error",
                                         "mean_absolute_error_error",
                                         "refused"}));
  EXPECT_EQ(json["results"].size(), 6u);
  EXPECT_DOUBLE_EQ(json["results"][0]["accuracy"].get<double>(), 0.7);
  EXPECT_TRUE(json["results"][2]["accuracy"].is_null());  // refused
  EXPECT_EQ(json["methods"], (std::vector<std::string>{"plain", "adam", "free"}));
}

TEST(Results, CsvHasAFieldForEveryColumn) {
  std::istringstream lines(to_csv(some_results()));
  std::string header;
  std::getline(lines, header);
  const auto columns = std::count(header.begin(), header.end(), ',');
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    const auto quote = line.find('"');
    EXPECT_EQ(std::count(line.begin(),
                         line.begin() + static_cast<std::ptrdiff_t>(std::min(quote, line.size())), ','),
              columns)
        << line;
  }
  EXPECT_EQ(count, 6);
  EXPECT_THAT(to_csv(some_results()), HasSubstr(",\"no, \"\"never\"\"\"\n"));
}

TEST(RunLines, ReadBackWhatWasWritten) {
  for (const compare::Run& run : some_runs()) {
    const std::string line = to_line(run);
    const auto back = run_of_line(line.substr(0, line.size() - 1));
    ASSERT_TRUE(back) << line;
    EXPECT_EQ(to_line(*back), line);
    EXPECT_EQ(back->name, run.name);
    EXPECT_EQ(back->refused, run.refused);
    EXPECT_EQ(back->auc, run.auc);
    EXPECT_EQ(back->log_loss, run.log_loss);
    EXPECT_EQ(back->r2, std::nullopt);
  }
}

TEST(RunLines, APartOfALineIsNothing) {
  compare::Run run = some_runs()[0];
  run.accountant = "gdp";
  run.relation = "add_remove";
  const std::string line = to_line(run);
  const std::size_t last_comma = line.rfind(',');
  for (std::size_t length = 0; length < last_comma; ++length)
    EXPECT_FALSE(run_of_line(line.substr(0, length))) << line.substr(0, length);
  EXPECT_FALSE(
      run_of_line("data,model,method,epsilon,repeat,fold,accuracy,loss,objective,seconds,steps,epsilon_spent,"
                  "noise_multiplier,accountant,relation,auc,log_loss,r2,mean_absolute_error,refused"));
  EXPECT_FALSE(run_of_line(line.substr(0, last_comma) + ",\"torn"));
  EXPECT_FALSE(run_of_line("d,m,a,0.5x,1,1,0.5,0.5,0.5,0.5,4,,,,,0.5,0.5,,,"));
  EXPECT_TRUE(run_of_line("d,m,a,0.5,1,1,0.5,0.5,0.5,0.5,4,,,,,0.5,0.5,,,"));
}

TEST(RunLines, AReasonStaysOnOneLine) {
  compare::Run run = some_runs()[0];
  run.refused = "two\nlines";
  EXPECT_EQ(run_of_line(to_line(run).substr(0, to_line(run).size() - 1))->refused, "two lines");
}

}  // namespace
}  // namespace ration::testing
