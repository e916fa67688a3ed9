#include "train/training.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "ration/base/error.h"
#include "ration/data/census.h"
#include "support/doubles.h"
#include "support/small_table.h"

namespace ration::testing {
namespace {

using ::testing::HasSubstr;

constexpr std::size_t kRows = 400;
const Model kLogistic{};

RowTransform some_rows(std::size_t rows = kRows) {
  return RowTransform(data::census_table(rows, 1).rows);
}

Plan small_plan() {
  Plan plan;
  plan.method = "dpsgd";
  plan.rows = kRows;
  plan.epsilon = 4;
  plan.delta = 1e-5;
  plan.steps = 30;
  return plan;
}

// Plans of every kind of bookkeeping.
std::vector<ResolvedPlan> some_plans() {
  std::vector<ResolvedPlan> plans;
  for (const std::string clip : {"auto-s", "adaptive"}) {
    for (const std::string sampling : {"full", "poisson", "fixed"}) {
      Plan plan = small_plan();
      plan.clip = clip;
      plan.sampling = sampling;
      plan.accountant = "rdp";
      if (sampling != "full") plan.rate = 0.1;
      plans.push_back(resolve(plan));
      if (sampling == "fixed") continue;
      plan.rows.reset();
      plans.push_back(resolve(plan));
    }
  }
  return plans;
}

void finish(Training& training) {
  while (training.step()) {
  }
}

std::string charged_events(const Event& event) {
  std::string text;
  for (const CountedEvent& one : flatten(event))
    text += one.event.describe() + "*" + std::to_string(one.count);
  return text;
}

TEST(Training, SpendsThePlanStepByStepAndNoMore) {
  for (const ResolvedPlan& plan : some_plans()) {
    SCOPED_TRACE(plan.event().describe());
    SeededRandom random(1);
    Training training(plan, kLogistic, some_rows(), random);
    EXPECT_EQ(charged_events(training.released()), charged_events(plan.event(0)));
    for (std::int64_t t = 1; t <= 30; ++t) {
      ASSERT_TRUE(training.step());
      EXPECT_EQ(training.charged(), t);
      EXPECT_EQ(charged_events(training.released()), charged_events(plan.event(t)));
    }
    EXPECT_FALSE(training.step());
    EXPECT_EQ(charged_events(training.released()), charged_events(plan.event()));
    EXPECT_NEAR(training.spent_share(), 1, 1e-2);
  }
}

TEST(Training, GoesOnFromACheckpointBitByBit) {
  for (const ResolvedPlan& plan : some_plans()) {
    SCOPED_TRACE(plan.event().describe());
    SeededRandom one(1), other(1);
    Training whole(plan, kLogistic, some_rows(), one);
    finish(whole);

    Training first(plan, kLogistic, some_rows(), other);
    for (int t = 0; t < 13; ++t) ASSERT_TRUE(first.step());
    Training second(plan, kLogistic, some_rows(), other, first.save());
    EXPECT_EQ(second.charged(), 13);
    EXPECT_EQ(second.steps_done(), 13);
    EXPECT_EQ(second.divisor_rows(), first.divisor_rows());
    EXPECT_EQ(second.spent_share(), first.spent_share());
    finish(second);
    EXPECT_EQ(second.weights(), whole.weights());
    EXPECT_EQ(charged_events(second.released()), charged_events(plan.event()));
  }
}

// Counts what a second training still gets after a first one was cut off: the filter is what grants.
TEST(Training, StepsThatWereLostStayPaidFor) {
  for (const ResolvedPlan& plan : some_plans()) {
    SCOPED_TRACE(plan.event().describe());
    SeededRandom random(1);
    Training first(plan, kLogistic, some_rows(), random);
    for (int t = 0; t < 8; ++t) ASSERT_TRUE(first.step());
    TrainingState state = first.save();
    state.charged += 5;  // paid for ahead, and lost

    Training second(plan, kLogistic, some_rows(), random, state);
    EXPECT_EQ(charged_events(second.released()), charged_events(plan.event(13)));
    for (int t = 0; t < 4; ++t) ASSERT_TRUE(second.step());
    EXPECT_EQ(second.charged(), 17);
    EXPECT_EQ(second.steps_done(), 12);
    state = second.save();
    EXPECT_EQ(state.charged, 17);
    state.charged += 3;  // and again

    Training third(plan, kLogistic, some_rows(), random, state);
    finish(third);
    EXPECT_EQ(third.charged(), 30);
    EXPECT_EQ(third.steps_done(), 22);
    EXPECT_EQ(charged_events(third.released()), charged_events(plan.event()));
    EXPECT_NEAR(third.spent_share(), 1, 1e-2);
  }
}

// The method knows how many steps it will take in all: its learning rate still falls to the end.
TEST(Training, WhatIsLeftOfThePlanIsARunOfItsOwnLength) {
  Plan plan = small_plan();
  plan.lr_shape = "cosine";
  const ResolvedPlan resolved = resolve(plan);
  SeededRandom random(1);
  Training training(resolved, kLogistic, some_rows(), random, {.charged = 20});
  finish(training);
  EXPECT_EQ(training.report().step, 10);
  EXPECT_NEAR(training.report().learning_rate,
              *resolved.plan.lr * (1 + std::cos(std::acos(-1.0) * 9 / 10)) / 2, 1e-12);
}

TEST(Training, ARunThatLostEverythingHasTheUntrainedModel) {
  const ResolvedPlan plan = resolve(small_plan());
  SeededRandom random(1);
  Training training(plan, kLogistic, some_rows(), random, {.charged = 30});
  EXPECT_FALSE(training.step());
  EXPECT_EQ(training.weights(), std::vector<double>(some_rows().rows().columns(), 0.0));
  EXPECT_EQ(charged_events(training.released()), charged_events(plan.event()));
}

TEST(Training, AStateThatIsNotOneIsRefused) {
  const ResolvedPlan plan = resolve(small_plan());
  SeededRandom random(1);
  Training training(plan, kLogistic, some_rows(), random);
  for (int t = 0; t < 3; ++t) ASSERT_TRUE(training.step());
  const TrainingState good = training.save();
  const auto complaint = [&](auto change) {
    TrainingState state = good;
    change(state);
    return refusal([&] { Training again(plan, kLogistic, some_rows(), random, state); });
  };
  EXPECT_EQ(complaint([](TrainingState&) {}), "");
  EXPECT_THAT(complaint([](TrainingState& state) { state.charged = 2; }),
              HasSubstr("steps done <= steps charged"));
  EXPECT_THAT(complaint([](TrainingState& state) { state.charged = 31; }), HasSubstr("charged <= 30"));
  EXPECT_THAT(complaint([](TrainingState& state) { state.charged = -1; }), HasSubstr("steps charged"));
  EXPECT_NE(complaint([](TrainingState& state) { state.method["step"] = {}; }), "");
  EXPECT_NE(complaint([](TrainingState& state) { state.method["step"] = {-1}; }), "");
  EXPECT_NE(complaint([](TrainingState& state) { state.method["step"] = {1e300}; }), "");
  EXPECT_NE(complaint([](TrainingState& state) { state.method.erase("weights"); }), "");
}

// What is kept of delta goes by it (privacy/sampler_delta.h). The second moment of many columns has far more
// numbers than the model.
TEST(Training, AutoTakesNoMoreRandomWordsThanItSays) {
  constexpr std::size_t kColumns = 600;
  constexpr std::size_t kFew = 20;
  Plan plan = small_plan();
  plan.method = MethodKind::automatic;
  plan.steps.reset();
  plan.rows = kFew;
  plan.epsilon = 1e4;  // so that no column is lost in the noise
  const ResolvedPlan resolved = resolve(plan);
  CountingRandom random(1);
  Training training(
      resolved, kLogistic,
      RowTransform(Rows::dense(kColumns, std::vector<double>(kFew * kColumns, 0.5), std::vector(kFew, 1.0))),
      random);
  finish(training);
  EXPECT_GT(random.words_generated(), 512 * 513 / 2);  // of the 512 columns that it keeps at most
  EXPECT_LE(static_cast<double>(random.words_generated()), training.random_words());
}

// --- the number of rows

TEST(Training, UnderAddRemoveOnlyTheDeclaredNumberOfRowsCounts) {
  Plan plan = small_plan();
  plan.rows = 250;  // there are 400
  const ResolvedPlan resolved = resolve(plan);
  SeededRandom random(1);
  Training training(resolved, kLogistic, some_rows(), random);
  EXPECT_EQ(training.divisor_rows(), 250);
  ASSERT_TRUE(training.step());
  EXPECT_NEAR(training.report().noise_stddev, resolved.noise_multiplier / 250, 1e-4 / 250);
}

TEST(Training, ANoisyCountIsTheDivisorAndChargedAndKept) {
  Plan plan = small_plan();
  plan.rows.reset();
  const ResolvedPlan resolved = resolve(plan);
  SeededRandom random(1), same(1);
  Training training(resolved, kLogistic, some_rows(), random);
  const double counted = training.divisor_rows();
  EXPECT_NE(counted, kRows);  // with this seed
  EXPECT_NEAR(counted, kRows, 6 * *resolved.count_noise);
  EXPECT_EQ(counted, std::round(counted));
  EXPECT_EQ(charged_events(training.released()), charged_events(Event::gaussian(*resolved.count_noise)));
  EXPECT_GT(training.spent_share(), 0);
  EXPECT_EQ(training.save().noisy_rows, counted);

  ASSERT_TRUE(training.step());
  EXPECT_NEAR(training.report().noise_stddev, resolved.noise_multiplier / counted, 1e-4 / counted);

  // Kept, not asked again: no word is drawn, though other rows would give another answer.
  CountingRandom counting(2);
  Training again(resolved, kLogistic, some_rows(300), counting, training.save());
  EXPECT_EQ(again.divisor_rows(), counted);
  EXPECT_EQ(counting.words_generated(), 0u);
  EXPECT_EQ(again.spent_share(), training.spent_share());
}

TEST(Training, ACountThatIsMissingIsNotAskedAgain) {
  Plan plan = small_plan();
  plan.rows.reset();
  const ResolvedPlan resolved = resolve(plan);
  SeededRandom random(1);
  EXPECT_THAT(refusal([&] { Training(resolved, kLogistic, some_rows(), random, {.charged = 3}); }),
              HasSubstr("the count of the rows is missing"));
}

TEST(Training, UnderReplaceOneTheNumberOfRowsIsPublicAndMustBeRight) {
  Plan plan = small_plan();
  plan.relation = "replace_one";
  plan.rows = kRows + 1;
  SeededRandom random(1);
  const ResolvedPlan wrong = resolve(plan);
  EXPECT_THAT(refusal([&] { Training(wrong, kLogistic, some_rows(), random); }),
              HasSubstr("expected rows = 400 under replace_one"));
  plan.rows.reset();
  const ResolvedPlan left_out = resolve(plan);
  EXPECT_FALSE(left_out.count_noise);
  EXPECT_EQ(Training(left_out, kLogistic, some_rows(), random).divisor_rows(), kRows);
  plan.rows = kRows + 1;
  plan.sampling = "fixed";
  plan.rate = 0.1;
  const ResolvedPlan fixed = resolve(plan);
  EXPECT_NE(refusal([&] { Training(fixed, kLogistic, some_rows(), random); }), "");
}

// The noise of a step is its multiplier times the sensitivity of the relation: 2C under replace_one.
TEST(Training, TheNoiseIsThatOfTheRelation) {
  for (const std::string relation : {"add_remove", "replace_one"}) {
    Plan plan = small_plan();
    plan.relation = relation;
    plan.clip_bound = 3;
    const ResolvedPlan resolved = resolve(plan);
    SeededRandom random(1);
    Training training(resolved, kLogistic, some_rows(), random);
    ASSERT_TRUE(training.step());
    const double sensitivity = relation == "add_remove" ? 3 : 6;
    EXPECT_NEAR(training.report().noise_stddev, resolved.noise_multiplier * sensitivity / kRows, 1e-6);
  }
}

TEST(Training, ACountAndAMeanComeFirstAndOnce) {
  Plan plan = small_plan();
  plan.rows.reset();
  plan.center = "yes";
  for (const std::string method : {"dpsgd", "blsgd"}) {
    plan.method = method;
    if (method == "blsgd") plan.steps.reset();
    const ResolvedPlan resolved = resolve(plan);
    SeededRandom random(1);
    const Training training(resolved, kLogistic, some_rows(2000), random);
    EXPECT_EQ(charged_events(training.released()),
              charged_events(Event::composed({resolved.count_event(), resolved.mean_event()})));
    const TrainingState state = training.save();
    ASSERT_TRUE(state.noisy_rows);
    ASSERT_TRUE(state.row_mean);
    // The bias, and so rows over rows counted.
    EXPECT_NEAR(state.row_mean->back(), 2000 / *state.noisy_rows, 0.2);

    CountingRandom counting(2);
    const Training again(resolved, kLogistic, some_rows(300), counting, state);
    EXPECT_EQ(counting.words_generated(), 0u);
    EXPECT_EQ(again.save().row_mean, state.row_mean);
    EXPECT_EQ(again.spent_share(), training.spent_share());
    TrainingState lost = state;
    lost.charged = 3;
    lost.row_mean.reset();
    EXPECT_THAT(refusal([&] { Training(resolved, kLogistic, some_rows(), random, lost); }),
                HasSubstr("the mean of the rows is missing"));
  }
}

// --- what was assumed

// The certificate may be made by another process than the one that asked.
TEST(Training, WhatItsAnswersAssumedIsKept) {
  const auto assumed_after = [](const std::string& method, const std::string& relation) {
    Plan plan = small_plan();
    plan.steps.reset();
    plan.method = method;
    plan.relation = relation;
    const ResolvedPlan resolved = resolve(plan);
    const Model model = untrained_model(plan, fitted_to(resolved.plan, data::census_schema()));
    SeededRandom random(1);
    Training training(resolved, model, some_rows(), random);
    EXPECT_TRUE(training.assumed().empty()) << method;
    EXPECT_TRUE(training.step());
    const Training again(resolved, model, some_rows(), random, training.save());
    EXPECT_EQ(again.assumed(), training.assumed()) << method;
    return training.assumed().size();
  };
  EXPECT_EQ(assumed_after("objpert", "add_remove"), 1u);
  EXPECT_EQ(assumed_after("outpert-gd", "add_remove"), 1u);
  EXPECT_EQ(assumed_after("objpert", "replace_one"), 0u);  // the number of rows is public
  EXPECT_EQ(assumed_after("majority", "add_remove"), 0u);
  EXPECT_EQ(assumed_after("dpsgd", "add_remove"), 0u);
}

// --- it learns

struct Learner {
  std::string model;
  double lr;
};

// Accuracy on people it has not seen.
double accuracy_of(const Learner& learner, std::size_t rows, double epsilon) {
  Plan plan;
  plan.rows = static_cast<double>(rows);
  plan.epsilon = epsilon;
  plan.delta = 1e-6;
  plan.steps = 200;
  plan.model = learner.model;
  plan.method = "dpsgd";
  plan.lr = learner.lr;
  plan.clip = "abadi";
  const ResolvedPlan resolved = resolve(plan);
  Model model = untrained_model(plan, data::census_schema());
  SeededRandom random(1);
  Training training(resolved, model, some_rows(rows), random);
  finish(training);
  model.weights = training.weights();
  return *evaluate_public(model, data::census_table(5000, 2)).accuracy;
}

// 76 % earn little, so that is what knowing nothing gets right.
TEST(Training, LearnsTheCensusWithEveryClassifier) {
  for (const Learner& learner : {Learner{"logistic", 4}, {"softmax", 4}, {"hinge", 2}, {"huber", 2}}) {
    EXPECT_GT(accuracy_of(learner, 10'000, 50), 0.825) << learner.model;
  }
  EXPECT_GT(accuracy_of({"logistic", 4}, 10'000, 1), 0.81);
  EXPECT_LT(accuracy_of({"logistic", 4}, 10'000, 1e-3), 0.81);  // the noise is there
}

TEST(Training, LearnsALineWithTheSquaredLoss) {
  constexpr std::size_t kPoints = 5000;
  std::vector<double> values, labels;
  for (std::size_t i = 0; i < kPoints; ++i) {
    const double x = static_cast<double>(i % 100) / 100;
    values.insert(values.end(), {x, 1});
    labels.push_back(0.25 + 0.5 * x);
  }
  const data::Schema schema = data::parse_schema(R"(
label = "y"
columns = [ { name = "x", type = "number", low = 0, high = 1 },
            { name = "y", type = "number", low = 0, high = 1 } ]
)");
  Plan plan = small_plan();
  plan.rows = kPoints;
  plan.epsilon = 50;
  plan.steps = 300;
  plan.model = "squared";
  plan.lr = 0.5;
  plan.clip = "abadi";
  const ResolvedPlan resolved = resolve(plan);
  SeededRandom random(1);
  Training training(resolved, untrained_model(plan, schema),
                    RowTransform(Rows::dense(2, std::move(values), std::move(labels))), random);
  finish(training);
  EXPECT_NEAR(training.weights()[0], 0.5, 0.04);
  EXPECT_NEAR(training.weights()[1], 0.25, 0.02);
}

// --- a method whose stages differ

ResolvedPlan plan_by_auto() {
  Plan plan = small_plan();
  plan.method = "auto";
  plan.steps.reset();
  return resolve(plan);
}

// Whichever stages were paid for and lost: all of the plan's releases are charged, none of them twice, and
// those that are asked are the ones that are left.
TEST(Training, StagesOfAutoThatWereLostAreNotAskedAgain) {
  const ResolvedPlan plan = plan_by_auto();
  for (const std::int64_t done : {0, 1, 2, 3, 12}) {
    for (const std::int64_t lost : {1, 2, 4}) {
      SeededRandom random(1);
      Training first(plan, kLogistic, some_rows(), random);
      for (std::int64_t i = 0; i < done; ++i) ASSERT_TRUE(first.step());
      TrainingState state = first.save();
      state.charged += lost;
      Training second(plan, kLogistic, some_rows(), random, state);
      EXPECT_EQ(second.steps_done(), done);
      for (std::int64_t i = done + lost; i < 18; ++i) {
        ASSERT_TRUE(second.step()) << done << " " << lost;
        EXPECT_EQ(charged_events(second.released()), charged_events(plan.event(i + 1)));
        if (i != 14) continue;
        state = second.save();
      }
      EXPECT_FALSE(second.step());
      EXPECT_EQ(charged_events(second.released()), charged_events(plan.event()));
      for (const double weight : second.weights()) EXPECT_TRUE(std::isfinite(weight));
      if (done + lost > 14) continue;
      state.charged += 2;  // and again
      Training third(plan, kLogistic, some_rows(), random, state);
      EXPECT_TRUE(third.step());
      EXPECT_FALSE(third.step());
      EXPECT_EQ(charged_events(third.released()), charged_events(plan.event()));
      for (const double weight : third.weights()) EXPECT_TRUE(std::isfinite(weight));
    }
  }
}

TEST(Training, AutoGoesOnFromEveryStageAsIfNothingHadHappened) {
  const ResolvedPlan plan = plan_by_auto();
  SeededRandom random(3);
  Training whole(plan, kLogistic, some_rows(), random);
  finish(whole);
  for (std::int64_t stop = 0; stop <= 18; stop += 3) {
    SeededRandom same(3);
    Training first(plan, kLogistic, some_rows(), same);
    for (std::int64_t i = 0; i < stop; ++i) ASSERT_TRUE(first.step());
    Training second(plan, kLogistic, some_rows(), same, first.save());
    finish(second);
    EXPECT_EQ(second.weights(), whole.weights()) << stop;
  }
}

// A second moment has far more numbers than the model: what its noise takes of the random source counts.
TEST(Training, AutoDrawsNoMoreRandomWordsThanItSays) {
  std::mt19937_64 bits(1);
  SparseMatrix matrix{.columns = 600, .starts = {0}, .indices = {}, .values = {}};
  for (std::size_t row = 0; row < kRows; ++row) {
    for (std::size_t column = 0; column < 599; ++column) {
      if (bits() % 2 == 0) matrix.add(column, 1);
    }
    matrix.add(599, 1);
    matrix.end_row();
  }
  std::vector<double> labels(kRows);
  for (double& label : labels) label = static_cast<double>(bits() % 2);
  const ResolvedPlan plan = plan_by_auto();
  CountingRandom random(1);
  Training training(plan, kLogistic, RowTransform(Rows::sparse(std::move(matrix), std::move(labels))),
                    random);
  finish(training);
  EXPECT_GT(random.words_generated(), 100'000u);
  EXPECT_LE(static_cast<double>(random.words_generated()), training.random_words());
}

}  // namespace
}  // namespace ration::testing
