#include "ration/train/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <set>

#include "ration/base/error.h"
#include "support/child_process.h"
#include "support/generators.h"
#include "support/small_table.h"

namespace ration::testing {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string complaint_of(const std::string& toml) {
  return refusal([&] { parse_plan(toml, "my/plan.toml"); });
}

// A value that is not the default, and one that is refused, for every key.
struct Sample {
  std::string key;
  std::string good;  // as TOML
  std::string bad;   // as TOML; empty if every text will do
};

const Sample kSamples[] = {
    {"data", R"("rows \"1\".csv")", ""},
    {"schema", R"("public.toml")", ""},
    {"target", R"("income")", ""},
    {"rows", "1000", "0"},
    {"unit", R"("patient")", ""},
    {"rows_per_unit", "8", "0"},
    {"units", "500", "0"},
    {"row_norm", "1", "0"},
    {"center", R"("yes")", R"("mean")"},
    {"features", R"("hats")", R"("trees")"},
    {"model", R"("huber")", R"("tree")"},
    {"on_bad_row", R"("clamp")", R"("ignore")"},
    {"huber_width", "0.25", "0"},
    {"epsilon", "1.5", "0"},
    {"delta", "1e-06", "1"},
    {"accountant", R"("rdp")", R"("odometer")"},
    {"relation", R"("replace_one")", R"("neighbours")"},
    {"ledger", R"("budget.db")", ""},
    {"data_hash", "true", "1"},
    {"method", R"("dpsgd")", R"("sgd")"},
    {"sampling", R"("fixed")", R"("shuffle")"},
    {"rate", "0.1", "1.5"},
    {"batch", "64", "0"},
    {"steps", "300", "1.5"},
    {"epochs", "2.5", "-1"},
    {"schedule", R"("influence")", R"("steep")"},
    {"gamma", "0.5", "1"},
    {"schedule_rate", "0.5", "-1"},
    {"schedule_every", "3", "0"},
    {"schedule_factor", "0.25", "0"},
    {"schedule_end", "0.25", "1.5"},
    {"schedule_power", "2", "0"},
    {"noise", "1.1", "0"},
    {"clip", R"("adaptive")", R"("none")"},
    {"clip_bound", "3", "-3"},
    {"clip_gamma", "0.5", "nan"},
    {"clip_quantile", "0.75", "1.25"},
    {"per_layer", "true", "1"},
    {"clip_follow_rate", "0.125", "inf"},
    {"expected_steps", "50", "0"},
    {"loss_bound", "3", "0"},
    {"search_noise", R"("gaussian")", R"("cauchy")"},
    {"first_step", "0.5", "0"},
    {"candidates", "12", "0"},
    {"shrink", "0.5", "1"},
    {"decrease", "0.25", "1"},
    {"raise", "0.5", "0"},
    {"clip_decay", "0.125", "1"},
    {"protector", R"("mine.protector")", ""},
    {"step", R"("adamw")", R"("lbfgs")"},
    {"lr", "0.5", "0"},
    {"lr_shape", R"("cosine")", R"("square")"},
    {"warm_up", "7", "-1"},
    {"drop_every", "30", "0.5"},
    {"drop_factor", "0.25", "1"},
    {"momentum", "0.5", "1"},
    {"second_momentum", "0.875", "0"},
    {"stability", "1e-06", "0"},
    {"weight_decay", "0.001", "-0.001"},
    {"noise_correction", "true", "1"},
    {"average", R"("exponential")", R"("all")"},
    {"average_decay", "0.75", "1"},
    {"checkpoint_every", "5", "0"},
};

const Sample& sample_of(const PlanKey& key) {
  for (const Sample& sample : kSamples) {
    if (sample.key == key.name) return sample;
  }
  throw std::runtime_error("no sample for key " + key.name);
}

// A TOML value as a flag has it.
std::string as_text(std::string toml) {
  if (toml.front() != '"') return toml;
  std::string text;
  for (std::size_t i = 1; i + 1 < toml.size(); ++i) {
    if (toml[i] == '\\') ++i;
    text += toml[i];
  }
  return text;
}

TEST(PlanFile, EveryKeyIsReadAndWritten) {
  for (const PlanKey& key : plan_keys()) {
    SCOPED_TRACE(key.name);
    const Sample& sample = sample_of(key);
    const Plan plan = parse_plan(key.name + " = " + sample.good);
    EXPECT_EQ(key.get(plan), sample.good);
    if (key.name != "method" && key.name != "schedule") {  // these have one value so far
      EXPECT_NE(plan, Plan{});
    }
    EXPECT_EQ(parse_plan(to_toml(plan)), plan);
  }
}

TEST(PlanFile, TextSetsWhatAFileSets) {
  for (const PlanKey& key : plan_keys()) {
    SCOPED_TRACE(key.name);
    const Sample& sample = sample_of(key);
    Plan by_text;
    key.set(by_text, key.flag(), as_text(sample.good));
    EXPECT_EQ(by_text, parse_plan(key.name + " = " + sample.good));
  }
}

TEST(PlanFile, ABadValueIsRefusedWithFileLineKeyRuleAndValue) {
  for (const PlanKey& key : plan_keys()) {
    SCOPED_TRACE(key.name);
    const Sample& sample = sample_of(key);
    if (sample.bad.empty()) continue;
    const std::string message = complaint_of("\n# plan\n" + key.name + " = " + sample.bad + "\n");
    EXPECT_THAT(message, StartsWith("my/plan.toml:3: " + key.name + ": expected "));
    EXPECT_THAT(message, HasSubstr("got '" + as_text(sample.bad) + "'"));
  }
}

TEST(PlanFile, TheRuleIsTheKeysOwn) {
  EXPECT_THAT(complaint_of("rate = 1.5"), HasSubstr("rate: expected 0 < rate <= 1, got '1.5'"));
  EXPECT_THAT(complaint_of("rate = 'x'"), HasSubstr("rate: expected 0 < rate <= 1, got 'x'"));
  EXPECT_THAT(complaint_of("clip = 'none'"),
              HasSubstr("clip: expected one of auto, abadi, auto-v, auto-s, adaptive, got 'none'"));
  EXPECT_THAT(complaint_of("noise_correction = 'yes'"),
              HasSubstr("noise_correction: expected true or false, got 'yes'"));
  EXPECT_THAT(complaint_of("steps = 0"), HasSubstr("steps: expected a whole number"));
}

TEST(PlanFile, EdgesOfTheRules) {
  EXPECT_EQ(parse_plan("rate = 1").rate, 1);
  EXPECT_EQ(parse_plan("clip_quantile = 0").clip_quantile, 0);
  EXPECT_EQ(parse_plan("clip_quantile = 1").clip_quantile, 1);
  EXPECT_EQ(parse_plan("warm_up = 0").warm_up, 0);
  EXPECT_EQ(parse_plan("momentum = 0").momentum, 0);
  EXPECT_EQ(parse_plan("steps = 1e3").steps, 1000);
  EXPECT_EQ(parse_plan("epsilon = \"0.5\"").epsilon, 0.5);
}

TEST(PlanFile, AnUnknownKeyIsToldAllKeys) {
  const std::string message = complaint_of("epsilon = 1\nepsilom = 2");
  EXPECT_THAT(message, StartsWith("my/plan.toml:2: unknown key 'epsilom'; keys are "));
  for (const PlanKey& key : plan_keys()) EXPECT_THAT(message, HasSubstr(key.name));
  EXPECT_THAT(message, EndsWith("; did you mean 'epsilon'?"));
}

TEST(PlanFile, WhatIsNotAValueOrNotTomlIsRefused) {
  EXPECT_THAT(complaint_of("steps = [1, 2]"), HasSubstr("my/plan.toml:1: steps: expected a text, a number"));
  EXPECT_THAT(complaint_of("data = 2020-01-01"), HasSubstr("my/plan.toml:1: data: expected a text"));
  EXPECT_THAT(complaint_of("[privacy]\nepsilon = 1"), HasSubstr("unknown key 'privacy'"));
  EXPECT_THAT(complaint_of("epsilon = 1\nepsilon 2"), StartsWith("my/plan.toml:2: "));
  EXPECT_THAT(complaint_of("epsilon = 1\nepsilon = 2"), StartsWith("my/plan.toml:2: "));
}

TEST(PlanFile, TheSchemaIsBesideThePlanTheDataIsNot) {
  EXPECT_EQ(parse_plan("schema = 's.toml'", "a/b/plan.toml").schema, "a/b/s.toml");
  EXPECT_EQ(parse_plan("schema = '../s.toml'", "a/b/plan.toml").schema, "a/s.toml");
  EXPECT_EQ(parse_plan("schema = '/s.toml'", "a/b/plan.toml").schema, "/s.toml");
  EXPECT_EQ(parse_plan("schema = 's.toml'", "plan.toml").schema, "s.toml");
  EXPECT_EQ(parse_plan("", "a/plan.toml").schema, "");
  EXPECT_EQ(parse_plan("data = 'd.csv'", "a/plan.toml").data, "d.csv");
}

// Like the data: one that lies there is meant, another from the current folder.
TEST(PlanFile, ALedgerBesideThePlanIsTaken) {
  const TemporaryFolder folder;
  folder.write("budget.db", "");
  EXPECT_EQ(read_plan(folder.write("plan.toml", "ledger = 'budget.db'\n")).ledger,
            folder.path() + "/budget.db");
  EXPECT_EQ(read_plan(folder.write("plan.toml", "ledger = 'other.db'\n")).ledger, "other.db");
}

TEST(PlanFile, IsReadFromDisk) {
  const TemporaryFolder folder;
  const std::string path = folder.write("plan.toml", "schema = 'here.toml'\nepsilon = 2\n");
  const Plan plan = read_plan(path);
  EXPECT_EQ(plan.epsilon, 2);
  EXPECT_EQ(plan.schema, folder.path() + "/here.toml");
  EXPECT_THAT(refusal([&] { read_plan(folder.path() + "/none.toml"); }),
              HasSubstr("/none.toml: cannot read: "));
  EXPECT_THAT(refusal([&] { read_plan(folder.path()); }), HasSubstr("cannot read: it is a folder"));
}

TEST(PlanFile, KeysAreListedOnceAndFlagsHaveHyphens) {
  std::set<std::string> names;
  for (const PlanKey& key : plan_keys()) {
    EXPECT_TRUE(names.insert(key.name).second) << key.name;
    EXPECT_FALSE(key.help.empty() || key.group.empty()) << key.name;
    EXPECT_THAT(key.flag(), StartsWith("--"));
    EXPECT_EQ(key.flag().find('_'), std::string::npos);
  }
  EXPECT_EQ(names.size(), std::size(kSamples));
}

template <class Value>
std::optional<Value> sometimes(rc::Gen<Value> value) {
  return *rc::gen::arbitrary<bool>() ? std::optional(*value) : std::nullopt;
}

Plan any_plan() {
  Plan plan;
  const auto ascii = rc::gen::container<std::string>(rc::gen::inRange<char>(1, 127));
  plan.data = *ascii;
  plan.target = *ascii;
  plan.ledger = *ascii;
  plan.rows = sometimes(log_uniform(1, 1e15));
  plan.epsilon = sometimes(log_uniform(1e-9, 1e9));
  plan.delta = sometimes(log_uniform(1e-300, 0.5));
  plan.rate = sometimes(log_uniform(1e-9, 1));
  plan.batch = sometimes(rc::gen::inRange<std::int64_t>(1, 1'000'000'000'000));
  plan.steps = sometimes(rc::gen::inRange<std::int64_t>(1, 1'000'000'000'000));
  plan.noise = sometimes(log_uniform(1e-150, 1e150));
  plan.lr = *log_uniform(1e-150, 1e150);
  plan.weight_decay = *rc::gen::element(0.0, 5e-324, 0.1);
  plan.warm_up = *rc::gen::inRange<std::int64_t>(0, 100);
  plan.per_layer = *rc::gen::arbitrary<bool>();
  plan.noise_correction = *rc::gen::arbitrary<bool>();
  plan.clip = *rc::gen::element<std::string>("abadi", "auto-v", "auto-s", "adaptive");
  return plan;
}

TEST(PlanFile, WhatIsWrittenReadsBackAsTheSamePlan) {
  EXPECT_TRUE(rc::check([] {
    const Plan plan = any_plan();
    RC_ASSERT(parse_plan(to_toml(plan)) == plan);
  }));
}

}  // namespace
}  // namespace ration::testing
