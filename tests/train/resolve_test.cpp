#include "ration/train/resolve.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "ration/base/error.h"
#include "ration/objectives/network.h"
#include "schedules/noise_shape.h"
#include "support/child_process.h"
#include "support/plans.h"
#include "support/small_table.h"

namespace ration::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr double kRows = 10'000;

Plan small_plan() {
  Plan plan;
  plan.method = "dpsgd";
  plan.rows = kRows;
  plan.epsilon = 1;
  plan.delta = 1e-6;
  plan.steps = 50;
  return plan;
}

template <class Change>
Plan changed(Change change) {
  Plan plan = small_plan();
  change(plan);
  return plan;
}

template <class Change>
std::string complaint_about(Change change) {
  return refusal([&] { resolve(changed(change)); });
}

// --- what 'auto' becomes

TEST(Resolve, AutoIsTheFullBatchUnlessTheRateIsBelowOne) {
  const ResolvedPlan full = resolve(small_plan());
  EXPECT_EQ(full.plan.sampling, "full");
  EXPECT_EQ(full.plan.relation, "add_remove");
  EXPECT_EQ(full.plan.accountant, "gdp");
  EXPECT_EQ(full.rate, 1);

  const ResolvedPlan poisson = resolve(changed([](Plan& plan) { plan.rate = 0.1; }));
  EXPECT_EQ(poisson.plan.sampling, "poisson");
  EXPECT_EQ(poisson.relation, Relation::add_remove);
  EXPECT_EQ(poisson.accountant, Accountant::pld);
  EXPECT_FALSE(poisson.fixed_size);

  const ResolvedPlan fixed = resolve(changed([](Plan& plan) {
    plan.rate = 0.1;
    plan.sampling = "fixed";
  }));
  EXPECT_EQ(fixed.relation, Relation::replace_one);
  EXPECT_EQ(fixed.accountant, Accountant::rdp);
  EXPECT_EQ(fixed.fixed_size, 1000u);
}

TEST(Resolve, ABatchIsARateAndEpochsAreSteps) {
  const ResolvedPlan batch = resolve(changed([](Plan& plan) {
    plan.batch = 250;
    plan.steps.reset();
    plan.epochs = 2;
  }));
  EXPECT_EQ(batch.rate, 0.025);
  EXPECT_EQ(batch.steps(), 80);
  EXPECT_EQ(batch.plan.steps, 80);
  EXPECT_FALSE(batch.plan.batch || batch.plan.epochs);

  // A third of an epoch more is a step begun; what only rounding adds is not.
  EXPECT_EQ(resolve(changed([](Plan& plan) {
              plan.steps.reset();
              plan.rate = 0.1;
              plan.epochs = 1.01;
            })).steps(),
            11);
  EXPECT_EQ(resolve(changed([](Plan& plan) {
              plan.steps.reset();
              plan.rate = 0.1;
              plan.epochs = 0.3;
            })).steps(),
            3);
  EXPECT_EQ(resolve(changed([](Plan& plan) { plan.steps.reset(); })).steps(), 200);
}

TEST(Resolve, AFixedSizeIsWholeAndItsRateTheTrueOne) {
  const ResolvedPlan plan = resolve(changed([](Plan& plan) {
    plan.sampling = "fixed";
    plan.rate = 0.01234567;
  }));
  EXPECT_EQ(plan.fixed_size, 123u);
  EXPECT_EQ(plan.rate, 123 / kRows);
  EXPECT_THAT(plan.event().describe(), HasSubstr("0.0123"));
}

// --- what does not hold together

TEST(Resolve, WhatIsNeededIsNamed) {
  EXPECT_THAT(complaint_about([](Plan& plan) { plan.epsilon.reset(); }), HasSubstr("epsilon is needed"));
  EXPECT_THAT(complaint_about([](Plan& plan) { plan.delta.reset(); }), HasSubstr("delta is needed"));
  EXPECT_THAT(complaint_about([](Plan& plan) {
                plan.rows.reset();
                plan.batch = 10;
              }),
              HasSubstr("batch needs rows"));
  for (const auto& rows : {std::optional<double>(), std::optional(100.5)}) {
    EXPECT_THAT(complaint_about([&](Plan& plan) {
                  plan.rows = rows;
                  plan.sampling = "fixed";
                  plan.rate = 0.1;
                }),
                HasSubstr("sampling fixed needs rows"));
  }
}

TEST(Resolve, TwoKeysThatSayTheSameAreRefusedByName) {
  EXPECT_THAT(complaint_about([](Plan& plan) {
                plan.rate = 0.1;
                plan.batch = 10;
              }),
              HasSubstr("rate and batch say the same"));
  EXPECT_THAT(complaint_about([](Plan& plan) { plan.epochs = 3; }),
              HasSubstr("steps and epochs say the same"));
  EXPECT_THAT(complaint_about([](Plan& plan) { plan.batch = 10'001; }), HasSubstr("batch <= rows = 10000"));
  EXPECT_THAT(complaint_about([](Plan& plan) {
                plan.sampling = "full";
                plan.rate = 0.5;
              }),
              HasSubstr("sampling full sees every row, but rate is 0.5"));
}

TEST(Resolve, ValuesOfAPlanThatCameFromNoFileAreCheckedToo) {
  EXPECT_THAT(complaint_about([](Plan& plan) { plan.rate = 1.5; }),
              StartsWith("plan: rate: expected 0 < rate <= 1, got '1.5'"));
  EXPECT_THAT(complaint_about([](Plan& plan) { plan.rate = std::nan(""); }), StartsWith("plan: rate: "));
  EXPECT_THAT(complaint_about([](Plan& plan) { plan.rows = 0; }), StartsWith("plan: rows: "));
  EXPECT_THAT(complaint_about([](Plan& plan) { plan.epsilon = -1; }), StartsWith("plan: epsilon: "));
  EXPECT_THAT(complaint_about([](Plan& plan) { plan.steps = 0; }), StartsWith("plan: steps: "));
  EXPECT_THAT(complaint_about([](Plan& plan) { plan.method = "sgd"; }),
              StartsWith("method: expected one of auto, dpsgd, "));
  EXPECT_THAT(complaint_about([](Plan& plan) { plan.sampling = "shuffle"; }), StartsWith("sampling: "));
  EXPECT_THAT(complaint_about([](Plan& plan) { plan.clip = "none"; }), StartsWith("clip: "));
}

TEST(Resolve, CombinationsWithoutATheoremAreRefusedNamingBothParts) {
  EXPECT_THAT(complaint_about([](Plan& plan) {
                plan.rate = 0.1;
                plan.relation = "replace_one";
              }),
              ::testing::AllOf(HasSubstr("oisson"), HasSubstr("replace_one")));
  // Of all rows, too: the size of the batch would be the number of rows, which add_remove keeps private.
  for (const double rate : {0.1, 1.0}) {
    EXPECT_THAT(complaint_about([&](Plan& plan) {
                  plan.sampling = "fixed";
                  plan.rate = rate;
                  plan.relation = "add_remove";
                }),
                ::testing::AllOf(HasSubstr("fixed"), HasSubstr("add_remove")));
  }
  EXPECT_THAT(complaint_about([](Plan& plan) {
                plan.rate = 0.1;
                plan.accountant = "zcdp";
              }),
              ::testing::AllOf(HasSubstr("oisson"), HasSubstr("zcdp")));
}

// 64-bit words cannot be what delta 1e-30 asks for, whatever the events cost.
TEST(Resolve, ADeltaThatTheRandomNumbersCannotDeliverIsRefused) {
  EXPECT_THAT(
      complaint_about([](Plan& plan) {
        plan.epsilon = 8;
        plan.delta = 1e-30;
        plan.steps = 1;
      }),
      HasSubstr("delta 1e-30 is less than the random numbers of this run can deliver at epsilon 8; take a "
                "delta of at least"));
  const ResolvedPlan usual = resolve(small_plan());
  EXPECT_LT(usual.budget_of_events().delta, usual.budget.delta);
  EXPECT_EQ(usual.cost.delta, usual.budget.delta);
}

TEST(Resolve, AnApproximationCertifiesNothing) {
  EXPECT_THAT(complaint_about([](Plan& plan) {
                plan.rate = 0.1;
                plan.accountant = "gdp";
              }),
              HasSubstr("gdp"));
}

TEST(Resolve, WhatTheMethodRefusesIsRefusedBeforeARowIsRead) {
  EXPECT_THAT(complaint_about([](Plan& plan) { plan.lr_shape = "step"; }), HasSubstr("drop_every"));
  EXPECT_THAT(complaint_about([](Plan& plan) { plan.steps = 1'000'000'000; }), HasSubstr("steps"));
}

// --- noise and budget

struct Combination {
  std::string sampling, accountant, relation, clip;
  bool rows;  // declared; or counted with noise
};

std::vector<Combination> certified_combinations() {
  std::vector<Combination> all;
  for (const std::string clip : {"abadi", "auto-v", "auto-s", "adaptive"}) {
    for (const bool rows : {true, false}) {
      for (const std::string accountant : {"gdp", "zcdp", "rdp", "pld"}) {
        all.push_back({"full", accountant, "add_remove", clip, rows});
      }
      for (const std::string accountant : {"rdp", "pld"}) {
        all.push_back({"poisson", accountant, "add_remove", clip, rows});
      }
    }
    all.push_back({"full", "gdp", "replace_one", clip, false});
    all.push_back({"fixed", "rdp", "replace_one", clip, true});
  }
  all.push_back({"full", "advanced", "add_remove", "auto-s", true});
  return all;
}

Plan plan_of(const Combination& combination) {
  Plan plan = small_plan();
  plan.sampling = combination.sampling;
  if (plan.sampling != "full") plan.rate = 0.05;
  plan.accountant = combination.accountant;
  plan.relation = combination.relation;
  plan.clip = combination.clip;
  if (!combination.rows) plan.rows.reset();
  return plan;
}

std::string describe(const Combination& c) {
  return fmt::format("{} {} {} {} {}", c.sampling, c.accountant, c.relation, c.clip,
                     c.rows ? "declared" : "undeclared");
}

TEST(Resolve, TheNoiseLandsOnTheBudgetAndNeverAboveIt) {
  for (const Combination& combination : certified_combinations()) {
    SCOPED_TRACE(describe(combination));
    const ResolvedPlan plan = resolve(plan_of(combination));
    EXPECT_LE(plan.cost.epsilon, 1);
    EXPECT_GE(plan.cost.epsilon, 1 - 1e-3);
    EXPECT_TRUE(plan.cost.certified);
    // The cost is that of the events, by the accountant of the plan, at the delta of the budget less the part
    // that is kept for the random numbers.
    const Guarantee again =
        account(plan.event(), plan.relation, plan.accountant, plan.budget_of_events().delta);
    EXPECT_EQ(again.epsilon, plan.cost.epsilon);
    EXPECT_EQ(plan.count_noise.has_value(),
              !combination.rows && combination.relation == std::string("add_remove"));
  }
}

// Any shape, sampled or not, is scaled until the accountant lands on the budget; the event lists the noise of
// every step.
TEST(Resolve, ASchedulesNoiseHasItsShapeAndLandsOnTheBudget) {
  const std::pair<const char*, NoiseShape> schedules[] = {
      {"uniform", UniformNoise{}},
      {"exponential", ExponentialNoise{0.02}},
      {"step", StepNoise{5, 0.8}},
      {"time", TimeNoise{0.02}},
      {"polynomial", PolynomialNoise{0.3, 2}},
      {"influence", InfluenceNoise{0.9}},
      {"influence-momentum", MomentumInfluenceNoise{0.9, 0.5}}};
  for (const auto& [name, shape] : schedules) {
    for (const double rate : {1.0, 0.1}) {
      SCOPED_TRACE(fmt::format("{} at rate {}", name, rate));
      Plan plan = small_plan();
      plan.schedule = name;
      plan.rate = rate;
      plan.momentum = 0.5;
      const std::string_view of = name;  // a setting of another shape is refused
      if (of.starts_with("influence")) plan.gamma = 0.9;
      if (of == "exponential" || of == "time") plan.schedule_rate = 0.02;
      if (of == "step") plan.schedule_every = 5, plan.schedule_factor = 0.8;
      if (of == "polynomial") plan.schedule_end = 0.3, plan.schedule_power = 2;
      const ResolvedPlan resolved = resolve(plan);
      EXPECT_LE(resolved.cost.epsilon, 1);
      EXPECT_GE(resolved.cost.epsilon, 1 - 1e-3);
      const std::vector<double> relative = relative_noise(shape, 50);
      for (std::size_t t = 0; t < 50; ++t) {
        EXPECT_DOUBLE_EQ(options_of(resolved).noise[t], resolved.noise_multiplier * relative[t]) << t;
      }
      std::int64_t listed = 0;
      for (const CountedEvent& one : flatten(resolved.event())) listed += one.count;
      EXPECT_EQ(listed, 50);
    }
  }
}

TEST(Resolve, IsAFixedPoint) {
  for (const Combination& combination : certified_combinations()) {
    SCOPED_TRACE(describe(combination));
    const ResolvedPlan once = resolve(plan_of(combination));
    const ResolvedPlan twice = resolve(parse_plan(to_toml(once.plan)));
    EXPECT_EQ(twice.plan, once.plan);
    EXPECT_EQ(twice.noise_multiplier, once.noise_multiplier);
    EXPECT_EQ(twice.count_noise, once.count_noise);
    EXPECT_EQ(options_of(twice).noise, options_of(once).noise);
    EXPECT_EQ(twice.event().describe(), once.event().describe());
    EXPECT_EQ(twice.cost.epsilon, once.cost.epsilon);
    EXPECT_EQ(twice.rate, once.rate);
    EXPECT_EQ(twice.fixed_size, once.fixed_size);
  }
}

TEST(Resolve, EveryStepHasItsNoiseAndItsEvent) {
  const ResolvedPlan plan = resolve(changed([](Plan& plan) { plan.rate = 0.1; }));
  EXPECT_EQ(options_of(plan).noise, std::vector<double>(50, plan.noise_multiplier));
  const Event expected =
      Event::repeated(Event::poisson_sampled(0.1, Event::gaussian(plan.noise_multiplier)), 50);
  EXPECT_EQ(plan.event().describe(), Event::composed({expected}).describe());
  EXPECT_EQ(flatten(plan.event(20)).at(0).count, 20);
  EXPECT_TRUE(flatten(plan.event(0)).empty());
}

TEST(Resolve, ACountOfTheRowsIsAnEventAndCheap) {
  for (const double rate : {1.0, 0.05}) {
    const auto with = [&](bool rows) {
      return resolve(changed([&](Plan& plan) {
        plan.rate = rate;
        if (!rows) plan.rows.reset();
      }));
    };
    const ResolvedPlan counted = with(false);
    const std::vector<CountedEvent> events = flatten(counted.event());
    ASSERT_EQ(events.size(), 2u);
    EXPECT_EQ(events[0].event.describe(), Event::gaussian(*counted.count_noise).describe());
    EXPECT_EQ(events[0].count, 1);
    EXPECT_EQ(flatten(counted.event(0)).size(), 1u);  // asked before the first step
    // The steps' noise grows by half a percent for it.
    EXPECT_GT(counted.noise_multiplier, with(true).noise_multiplier);
    EXPECT_LT(counted.noise_multiplier, with(true).noise_multiplier * 1.02);
  }
}

TEST(Resolve, AdaptiveClippingIsChargedForBothQuestionsOnOneSample) {
  const ResolvedPlan plan = resolve(changed([](Plan& plan) {
    plan.clip = "adaptive";
    plan.rate = 0.1;
  }));
  const double noise = plan.noise_multiplier;
  const Event both = Event::composed({Event::gaussian(noise), Event::gaussian(10 * noise)});
  const std::vector<CountedEvent> events = flatten(plan.event());
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].event.describe(), Event::poisson_sampled(0.1, both).describe());
  EXPECT_EQ(options_of(plan).clip.name(), "abadi");
  ASSERT_TRUE(options_of(plan).follow);
}

TEST(Resolve, AnExplicitNoiseThatOverspendsIsRefusedByTheBudget) {
  const ResolvedPlan calibrated = resolve(small_plan());
  const auto with_noise = [&](double factor) {
    return changed([&](Plan& plan) { plan.noise = calibrated.noise_multiplier * factor; });
  };
  EXPECT_THROW(resolve(with_noise(0.99)), BudgetRefused);
  EXPECT_LT(resolve(with_noise(2)).cost.epsilon, 0.6);
  EXPECT_EQ(resolve(with_noise(2)).noise_multiplier, 2 * calibrated.noise_multiplier);
}

TEST(Resolve, SettingsReachTheMethod) {
  const ResolvedPlan plan = resolve(changed([](Plan& plan) {
    plan.clip = "auto-v";
    plan.clip_bound = 3;
    plan.step = "adam";
    plan.momentum = 0.8;
    plan.second_momentum = 0.95;
    plan.stability = 1e-3;
    plan.weight_decay = 0.25;
    plan.noise_correction = true;
    plan.lr = 0.125;
    plan.lr_shape = "step";
    plan.warm_up = 3;
    plan.drop_every = 7;
    plan.drop_factor = 0.5;
    plan.average = "exponential";
    plan.average_decay = 0.75;
  }));
  const GradientDescentOptions& method = options_of(plan);
  EXPECT_EQ(method.clip.name(), "auto-v");
  EXPECT_EQ(method.clip.bound(), 3);
  EXPECT_FALSE(method.follow);
  EXPECT_EQ(method.step.kind, StepKind::adam);
  EXPECT_EQ(method.step.momentum, 0.8);
  EXPECT_EQ(method.step.second_momentum, 0.95);
  EXPECT_EQ(method.step.stability, 1e-3);
  EXPECT_EQ(method.step.weight_decay, 0.25);
  EXPECT_TRUE(method.step.noise_correction);
  EXPECT_EQ(method.learning_rate.base, 0.125);
  EXPECT_EQ(method.learning_rate.shape, RateShape::step);
  EXPECT_EQ(method.learning_rate.warm_up, 3);
  EXPECT_EQ(method.learning_rate.drop_every, 7);
  EXPECT_EQ(method.learning_rate.drop_factor, 0.5);
  EXPECT_EQ(method.average.kind, Averaging::exponential);
  EXPECT_EQ(method.average.decay, 0.75);
}

TEST(Resolve, AnAverageRemembersATenthOfTheRunUnlessItIsTold) {
  for (const auto& [steps, decay] : {std::pair{1000, 0.99}, std::pair{40, 0.75}, std::pair{5, 0.0}}) {
    const ResolvedPlan plan = resolve(changed([steps = steps](Plan& plan) {
      plan.steps = steps;
      plan.average = "exponential";
    }));
    EXPECT_EQ(options_of(plan).average.decay, decay);
    EXPECT_EQ(plan.plan.average_decay, decay);
  }
}

TEST(Resolve, AQuantileIsFollowedAsThePlanSays) {
  const ResolvedPlan plan = resolve(changed([](Plan& plan) {
    plan.clip = "adaptive";
    plan.clip_quantile = 0.75;
    plan.clip_follow_rate = 0.5;
  }));
  EXPECT_EQ(options_of(plan).follow->follower.target, 0.75);
  EXPECT_EQ(options_of(plan).follow->follower.rate, 0.5);
}

// --- the schema

TEST(Resolve, ASchemaThatComesWithTheProgramIsTakenByTheFolderOfTheRows) {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder.path() + "/a9a");
  const std::string rows = folder.write("a9a/rows", "");
  const ResolvedPlan found = resolve(changed([&](Plan& plan) { plan.data = rows; }));
  EXPECT_TRUE(found.schema_was_found);
  EXPECT_THAT(found.plan.schema, ::testing::EndsWith("examples/a9a/schema.toml"));
  const ResolvedPlan named = resolve(changed([&](Plan& plan) {
    plan.data = rows;
    plan.schema = "mine.toml";
    plan.model = "logistic";  // nothing else asks what is in it
  }));
  EXPECT_FALSE(named.schema_was_found);
  EXPECT_EQ(named.plan.schema, "mine.toml");
}

TEST(Resolve, TheSchemaIsReadWithThePlansTarget) {
  const TemporaryFolder folder;
  Plan plan = small_plan();
  EXPECT_THAT(refusal([&] { read_schema_of(plan); }), HasSubstr("schema is needed"));
  plan.schema = folder.write("schema.toml", kSmallSchema);
  EXPECT_EQ(read_schema_of(plan).label, "rich");
  plan.model = "logistic";
  plan.target = "work";  // three classes, with the missing one
  EXPECT_NE(refusal([&] { read_schema_of(plan); }), "");
  plan.model = "squared";
  plan.target = "age";
  EXPECT_EQ(read_schema_of(plan).label, "age");
  plan.model = "logistic";
  EXPECT_NE(refusal([&] { read_schema_of(plan); }), "");
}

TEST(Resolve, AnUntrainedModelHasAWeightForEveryColumnAndOutput) {
  Plan plan = small_plan();
  const data::Schema schema = small_schema();
  const std::size_t columns = data::encoded_column_names(schema).size();
  EXPECT_EQ(untrained_model(plan, schema).weights, std::vector<double>(columns, 0.0));
  plan.model = "softmax";
  EXPECT_EQ(untrained_model(plan, schema).weights.size(), 2 * columns);
}

// --- what is not said

TEST(Resolve, NothingHasToBeChosen) {
  const Plan nothing;
  EXPECT_EQ(nothing.method, "auto");
  EXPECT_TRUE(nothing.model.is_auto());
  EXPECT_THROW(nothing.model.loss(), InternalError) << "nobody may train what was not chosen";
  Plan plan;
  plan.rows = kRows;
  plan.epsilon = 1;
  plan.delta = 1e-6;
  const ResolvedPlan resolved = resolve(plan);
  EXPECT_EQ(resolved.plan.method, "auto");
  EXPECT_EQ(resolved.plan.model, "logistic");
  EXPECT_EQ(resolved.why_model, "no schema is named");
}

const std::string kThreeLabels = R"(
label = "rich"
columns = [
  { name = "age", type = "number", low = 10, high = 60 },
  { name = "size", type = "category", categories = ["s", "m", "l"] },
  { name = "rich", type = "category", categories = ["no", "yes"] },
]
)";

TEST(Resolve, AnOpenModelIsThatOfTheSchema) {
  const TemporaryFolder folder;
  Plan plan = small_plan();
  plan.schema = folder.write("schema.toml", kThreeLabels);
  const auto chosen = [&] {
    const ResolvedPlan resolved = resolve(plan);
    EXPECT_EQ(resolve(parse_plan(to_toml(resolved.plan))).why_model, "")
        << "the plan of a run names its model";
    EXPECT_EQ(untrained_model(plan, read_schema_of(plan)).loss, resolved.plan.model.loss());
    return resolved.plan.model.name() + ": " + resolved.why_model;
  };
  EXPECT_EQ(chosen(), "logistic: label 'rich' has 2 classes");
  plan.target = "size";
  EXPECT_EQ(chosen(), "softmax: label 'size' has 3 classes");
  plan.target = "age";
  EXPECT_EQ(chosen(), "squared: label 'age' is a number");
  plan.target = "height";
  EXPECT_THAT(refusal([&] { resolve(plan); }), HasSubstr("height"));
  plan.target.clear();
  plan.model = "hinge";
  EXPECT_EQ(resolve(plan).why_model, "");
  EXPECT_EQ(resolve(plan).plan.model, "hinge");
}

TEST(Resolve, AnOpenModelOfATableInMemoryIsThatOfItsSchema) {
  data::Schema schema = data::parse_schema(kThreeLabels);
  schema.label = "size";
  EXPECT_EQ(resolve(small_plan(), schema).plan.model, "softmax");
  EXPECT_EQ(resolve(small_plan()).plan.model, "logistic");
}

// --- what method auto becomes

Plan plan_by_auto() {
  return changed([](Plan& plan) {
    plan.method = "auto";
    plan.steps.reset();
  });
}

TEST(Resolve, MethodAutoIsItselfForLinearModels) {
  for (const std::string model : {"logistic", "softmax", "hinge", "huber", "squared"}) {
    Plan plan = plan_by_auto();
    plan.model = model;
    const ResolvedPlan resolved = resolve(plan);
    EXPECT_EQ(resolved.plan.method.name(), "auto");
    EXPECT_EQ(resolved.why_method, "");
    EXPECT_EQ(resolved.steps(), 18);
    EXPECT_EQ(resolved.rate, 1);
    EXPECT_LE(resolved.cost.epsilon, 1);
  }
}

// All rows in every step, as long as that is a matter of seconds; by what is declared alone.
TEST(Resolve, MethodAutoSeesBatchesOfVeryManyRows) {
  Plan plan = plan_by_auto();
  plan.rows = 1e7;
  EXPECT_EQ(resolve(plan).rate, 1);
  plan.rows = 4e7;
  const ResolvedPlan sampled = resolve(plan);
  EXPECT_EQ(sampled.rate, 0.25);
  EXPECT_EQ(sampled.plan.sampling.value(), Sampling::poisson);
  EXPECT_LE(sampled.cost.epsilon, 1);
  EXPECT_TRUE(sampled.cost.certified);
  plan.relation = Relation::replace_one;
  const ResolvedPlan fixed = resolve(plan);
  EXPECT_EQ(fixed.fixed_size, 10'000'000u);
  EXPECT_LE(fixed.cost.epsilon, 1);
  EXPECT_TRUE(fixed.cost.certified);
  plan.rate = 1;  // who wants all of them says so
  EXPECT_EQ(resolve(plan).plan.sampling.value(), Sampling::full);
  plan.rows.reset();
  plan.rate.reset();
  EXPECT_EQ(resolve(plan).rate, 1);
}

void expect_dpsgd_for(const std::string& model, const std::string& why) {
  Plan plan = plan_by_auto();
  plan.data = "mnist:/nowhere";
  plan.model = model;
  const ResolvedPlan resolved = resolve(plan);
  EXPECT_EQ(resolved.plan.method.name(), "dpsgd");
  EXPECT_THAT(resolved.why_method, HasSubstr(why));
  plan.method = "dpsgd";
  EXPECT_EQ(to_toml(resolve(plan).plan), to_toml(resolved.plan));
}

TEST(Resolve, MethodAutoIsDpsgdForScatteredImages) {
  expect_dpsgd_for("scatter+softmax", "scattered");
}

// NOT a network: a name that is one's.
class OneName final : public Networks {
 public:
  OneName() { use_networks(this); }
  ~OneName() override { use_networks(nullptr); }
  std::vector<std::string> names() const override { return {"net"}; }
  bool knows(std::string_view name) const override { return name == "net"; }
  NetworkDefaults usual(std::string_view) const override { return {}; }
  std::vector<double> start(const NetworkSpec&, RandomSource&) const override { return {}; }
  std::size_t parameters(const NetworkSpec&) const override { return 0; }
  std::unique_ptr<Objective> objective(const NetworkSpec&, std::shared_ptr<const Rows>, const Hardware&,
                                       bool) const override {
    return nullptr;
  }
  void require_device(const std::string&) const override {}
};

TEST(Resolve, MethodAutoIsDpsgdForNetworks) {
  const OneName networks;
  expect_dpsgd_for("net", "network");
}

// Who names a network may set what networks are trained with, without naming the method that does it.
TEST(Resolve, MethodAutoTakesSettingsOfDpsgdForNetworks) {
  const OneName networks;
  Plan plan = plan_by_auto();
  plan.model = "net";
  plan.steps = 100;
  plan.lr = 0.5;
  plan.clip = "auto-s";
  const ResolvedPlan resolved = resolve(plan);
  EXPECT_EQ(resolved.plan.method.name(), "dpsgd");
  EXPECT_EQ(resolved.steps(), 100);
  EXPECT_EQ(resolved.plan.lr, 0.5);
  plan.loss_bound = 3;
  EXPECT_THAT(refusal([&] { resolve(plan); }), HasSubstr("loss_bound: method auto does not use it"));
}

// By what is declared alone: who declares nothing gets a model, however many rows there are.
TEST(Resolve, MethodAutoIsTheMajorityForTooFewDeclaredRows) {
  const auto method = [](std::optional<double> rows, double epsilon, const std::string& model) {
    Plan plan = plan_by_auto();
    plan.rows = rows;
    plan.epsilon = epsilon;
    plan.model = model;
    return std::string(resolve(plan).plan.method.name());
  };
  EXPECT_EQ(method(10, 1, "logistic"), "majority");
  EXPECT_EQ(method(10, 1, "softmax"), "majority");
  EXPECT_EQ(method(10'000, 1e-3, "logistic"), "majority");
  EXPECT_EQ(method(10'000, 1, "logistic"), "auto");
  EXPECT_EQ(method(std::nullopt, 1, "logistic"), "auto");
  EXPECT_EQ(method(std::nullopt, 1e-3, "logistic"), "auto");
  EXPECT_EQ(method(10, 1, "squared"), "auto");  // there are no classes to count: see the next test
  Plan plan = plan_by_auto();
  plan.rows = 10;
  EXPECT_THAT(resolve(plan).why_method, HasSubstr("10 rows are too few"));
}

TEST(Resolve, MethodAutoAsksForTheMeanLabelAloneIfDeclaredRowsAreTooFewForASquaredLoss) {
  Plan plan = plan_by_auto();
  plan.model = "squared";
  plan.rows = 10;
  const ResolvedPlan resolved = resolve(plan);
  EXPECT_EQ(resolved.steps(), 1);
  EXPECT_EQ(resolved.fixed()->releases().at(0).what, "mean of the label");
  plan.rows = 10'000;
  EXPECT_EQ(resolve(plan).steps(), 18);
}

TEST(Resolve, MethodAutoIsDpsgdWithoutABiasColumn) {
  data::Schema schema = small_schema();
  EXPECT_EQ(resolve(plan_by_auto(), schema).plan.method, "auto");
  schema.bias = false;
  EXPECT_EQ(resolve(plan_by_auto(), schema).plan.method, "dpsgd");
  EXPECT_EQ(resolve(plan_by_auto(), schema).why_method, "the schema says bias = false");
}

TEST(Resolve, MethodAutoTakesNoSettingsOfTheMethodInItsPlace) {
  Plan plan = plan_by_auto();
  plan.rows = 10;
  plan.lr = 0.5;
  EXPECT_THAT(refusal([&] { resolve(plan); }), HasSubstr("lr: method auto does not use it"));
  plan.rows = kRows;
  EXPECT_EQ(
      refusal([&] { resolve(plan); }),
      "plan: lr: method auto does not use it; leave it out, or name a method that takes it: --method dpsgd");
  plan.lr.reset();
  plan.loss_bound = 2;
  EXPECT_THAT(refusal([&] { resolve(plan); }), HasSubstr("a method that takes it: --method blsgd"));
  plan.loss_bound.reset();
  plan.center = Centering::yes;
  EXPECT_THAT(refusal([&] { resolve(plan); }), HasSubstr("method auto centres rows itself"));
  Plan nothing = plan_by_auto();
  nothing.epsilon.reset();
  EXPECT_THAT(refusal([&] { resolve(nothing); }), HasSubstr("epsilon is needed"));
}

}  // namespace
}  // namespace ration::testing
