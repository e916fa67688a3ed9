#include "compare/comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compare/comparisons.h"
#include "support/places.h"
#include "support/small_table.h"

namespace ration::testing {
namespace {

using namespace ration::compare;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

template <class Choice>
std::vector<std::string> names(const std::vector<Choice>& choices) {
  std::vector<std::string> out;
  for (const Choice& choice : choices) out.push_back(choice.name);
  return out;
}

const std::string kHead =
    "epsilons = [1]\ndelta = 1e-6\n[data.d]\nfiles = 'f'\nschema = 's'\n[models.logistic]\n";

Comparison with_methods(const std::string& methods) {
  return parse_comparison(kHead + methods, "c.toml");
}

TEST(Comparison, KeepsTheOrderOfTheFile) {
  const Comparison comparison = with_methods("[methods.z]\nmethod = 'dpsgd'\n[methods.a]\n[methods.m]\n");
  EXPECT_THAT(names(comparison.methods), ElementsAre("z", "a", "m"));
  EXPECT_EQ(comparison.folds, 10u);
  EXPECT_EQ(comparison.repeats, 1u);
}

TEST(Comparison, AMethodIsNamedByItsTableUnlessItSaysOtherwise) {
  const Comparison comparison = with_methods("[methods.dpsgd]\n[methods.other]\nmethod = 'dpsgd'\nlr = 3\n");
  for (const MethodChoice& method : comparison.methods)
    EXPECT_EQ(plan_for(comparison, comparison.models[0], method, 1, 10).method, "dpsgd");
  EXPECT_EQ(plan_for(comparison, comparison.models[0], comparison.methods[1], 1, 10).lr, 3);
}

TEST(Comparison, ThePlanIsThatOfTheFileThenOfTheModelThenOfTheMethod) {
  const Comparison comparison = parse_comparison(R"(
epsilons = [0.5]
delta = 1e-7
[plan]
lr = 1
steps = 5
momentum = 0.5
[models.svm]
model = "hinge"
steps = 6
[methods.dpsgd]
momentum = 0.25
noise_correction = false
)");
  const Plan plan = plan_for(comparison, comparison.models[0], comparison.methods[0], 0.5, 123);
  EXPECT_EQ(plan.lr, 1);
  EXPECT_EQ(plan.steps, 6);
  EXPECT_EQ(plan.momentum, 0.25);
  EXPECT_EQ(plan.model, "hinge");
  EXPECT_EQ(plan.epsilon, 0.5);
  EXPECT_EQ(plan.delta, 1e-7);
  EXPECT_EQ(plan.rows, 123);
}

TEST(Comparison, AFileOfAMethodLiesBesideTheComparison) {
  const Comparison comparison =
      parse_comparison(kHead +
                           "[methods.dpsgd]\nschedule = 's.csv'\n[methods.l2p]\nprotector = 'p'\n"
                           "[methods.sgd-ma]\nschedule = 'influence'\n",
                       "dir/c.toml");
  const auto plan = [&](std::size_t method) {
    return plan_for(comparison, comparison.models[0], comparison.methods[method], 1, 10);
  };
  EXPECT_EQ(plan(0).schedule, "dir/s.csv");
  EXPECT_EQ(plan(1).protector, "dir/p");
  EXPECT_EQ(plan(2).schedule, "influence");
}

TEST(Comparison, AnotherWayToSayTheSameWins) {
  const Comparison comparison = parse_comparison(
      "[plan]\nrate = 0.5\nsteps = 9\n[models.logistic]\n[methods.dpsgd]\nbatch = 7\nepochs = 2\n");
  const Plan plan = plan_for(comparison, comparison.models[0], comparison.methods[0], 1, 10);
  EXPECT_FALSE(plan.rate);
  EXPECT_FALSE(plan.steps);
  EXPECT_EQ(plan.batch, 7);
  EXPECT_EQ(plan.epochs, 2);
}

TEST(Comparison, SmoothMethodsGetTheSmoothModelAndAreMeasuredByTheOther) {
  const Comparison comparison = parse_comparison(R"(
[models.svm]
model = "hinge"
smooth = { model = "huber", huber_width = 0.25 }
[models.logistic]
[methods.dpsgd]
[methods.needs]
method = "dpsgd"
smooth = true
)");
  const auto& svm = comparison.models[0];
  EXPECT_EQ(plan_for(comparison, svm, comparison.methods[0], 1, 1).model, "hinge");
  EXPECT_EQ(plan_for(comparison, svm, comparison.methods[1], 1, 1).model, "huber");
  EXPECT_EQ(plan_for(comparison, svm, comparison.methods[1], 1, 1).huber_width, 0.25);
  EXPECT_EQ(plan_for(comparison, comparison.models[1], comparison.methods[1], 1, 1).model, "logistic");
  EXPECT_EQ(measuring_plan(comparison, svm).model, "hinge");
}

TEST(Comparison, WhatIsNotPrivateSaysSoOrIsCalledSo) {
  const Comparison comparison = with_methods(
      "[methods.nonprivate]\n[methods.dpsgd]\n[methods.n]\nmethod = 'nonprivate'\n[methods.p]\n"
      "method = 'dpsgd'\nprivate = false\n[methods.q]\nmethod = 'nonprivate'\nprivate = true\n");
  std::vector<bool> is_private;
  for (const MethodChoice& method : comparison.methods) is_private.push_back(method.is_private);
  EXPECT_THAT(is_private, ElementsAre(false, true, false, false, true));
}

TEST(Comparison, WithoutNamesTheDefaultIsChosen) {
  Comparison comparison = parse_comparison(
      "[data.a]\nfiles = 'f'\nschema = 's'\n[data.b]\nfiles = ['f', 'g']\nschema = 's'\nby_default = "
      "false\n");
  Comparison all = comparison;
  choose_data(comparison, {}, "--data");
  EXPECT_THAT(names(comparison.data), ElementsAre("a"));
  choose_data(all, {"b", "a"}, "--data");
  EXPECT_THAT(names(all.data), ElementsAre("b", "a"));
  EXPECT_THAT(all.data[0].files, ElementsAre("f", "g"));
}

TEST(Comparison, AMethodThatTheFileDoesNotListIsThePlansOwn) {
  Comparison comparison = with_methods("[methods.mine]\nmethod = 'dpsgd'\n");
  choose_methods(comparison, {"dpsgd"}, "--methods");
  EXPECT_EQ(plan_for(comparison, comparison.models[0], comparison.methods[0], 1, 1).method, "dpsgd");
  choose_models(comparison, {"hinge"}, "--models");
  EXPECT_EQ(measuring_plan(comparison, comparison.models[0]).model, "hinge");
}

// One model measures all data sets, so it cannot be each one's own.
TEST(Comparison, AnOpenModelIsRefused) {
  const Comparison comparison = parse_comparison(
      "epsilons = [1]\ndelta = 1e-6\n[data.d]\nfiles = 'f'\nschema = 's'\n[models.auto]\n[methods.dpsgd]\n");
  EXPECT_THAT(refusal([&] { require_sound(comparison); }), HasSubstr("it cannot be auto; name it"));
}

TEST(Comparison, UnknownNamesAreRefusedWithWhatThereIs) {
  Comparison comparison = with_methods("[methods.mine]\nmethod = 'dpsgd'\n");
  const std::string method = refusal([&] { choose_methods(comparison, {"magic"}, "--methods"); });
  EXPECT_THAT(method, StartsWith("--methods: expected one of "));
  EXPECT_THAT(method, HasSubstr("dpsgd"));
  EXPECT_THAT(method, HasSubstr("got 'magic'; the file has mine"));
  EXPECT_EQ(refusal([&] { choose_data(comparison, {"e"}, "--data"); }),
            "--data: unknown data set 'e'; there are d; a file needs --schema FILE");
  EXPECT_THAT(refusal([&] { choose_models(comparison, {"tree"}, "--models"); }),
              HasSubstr("--models: expected one of auto, logistic"));
  EXPECT_EQ(refusal([&] {
              choose_methods(comparison, {"mine", "mine"}, "--methods");
            }),
            "--methods: 'mine' is named twice");
}

// A method that this version lacks does not hinder those that are chosen.
TEST(Comparison, OnlyWhatIsChosenHasToBeSound) {
  Comparison comparison = with_methods("[methods.future]\n[methods.dpsgd]\n");
  EXPECT_THAT(refusal([&] { require_sound(comparison); }), StartsWith("c.toml:7: method: expected one of "));
  choose_methods(comparison, {"dpsgd"}, "--methods");
  EXPECT_EQ(refusal([&] { require_sound(comparison); }), "");
}

TEST(Comparison, ItsTextTellsEveryChoiceApart) {
  const Comparison comparison = CensusFolder().comparison();
  const std::string text = to_toml(comparison);
  EXPECT_EQ(to_toml(parse_comparison(text)), text);
  const auto changed = [&](const auto& change) {
    Comparison other = comparison;
    change(other);
    return to_toml(other) != text;
  };
  EXPECT_TRUE(changed([](Comparison& c) { c.folds = 4; }));
  EXPECT_TRUE(changed([](Comparison& c) { c.repeats = 4; }));
  EXPECT_TRUE(changed([](Comparison& c) { c.delta = 1e-5; }));
  EXPECT_TRUE(changed([](Comparison& c) { c.epsilons.push_back(3); }));
  EXPECT_TRUE(changed([](Comparison& c) { c.plan[0].text = "5"; }));
  EXPECT_TRUE(changed([](Comparison& c) { c.data[0].files.push_back("more"); }));
  EXPECT_TRUE(changed([](Comparison& c) { c.models[0].smooth.emplace(); }));
  EXPECT_TRUE(changed([](Comparison& c) { c.methods[0].settings[0].text = "x"; }));
  EXPECT_TRUE(changed([](Comparison& c) { c.methods[0].smooth = true; }));
  EXPECT_TRUE(changed([](Comparison& c) { c.methods[0].is_private = false; }));
}

struct BadText {
  std::string name;
  std::string text;
  std::string message;
};
void PrintTo(const BadText& bad, std::ostream* out) {
  *out << bad.name;
}
class RefusedComparison : public ::testing::TestWithParam<BadText> {};

TEST_P(RefusedComparison, NamesFileLineKeyAndRule) {
  const std::string said = refusal([] { require_sound(parse_comparison(GetParam().text, "c.toml")); });
  EXPECT_THAT(said, HasSubstr(GetParam().message));
  EXPECT_THAT(said, Not(HasSubstr("\n")));
}

const BadText kBadTexts[] = {
    {"NotToml", "a b", "c.toml:1: "},
    {"UnknownKey", "fold = 3\n", "c.toml:1: fold: unknown key; expected public, epsilons, delta, folds"},
    {"PublicText", "public = 'yes'\n", "c.toml:1: public: expected true or false"},
    {"EpsilonsNoList", "epsilons = 1\n", "c.toml:1: epsilons: expected a list of numbers"},
    {"EpsilonText", "epsilons = ['a']\n", "c.toml:1: epsilons: expected a number"},
    {"EpsilonZero", "epsilons = [0]\n" + kHead.substr(15) + "[methods.dpsgd]\n", "expected epsilon > 0"},
    {"EpsilonTwice", "epsilons = [1, 1]\n" + kHead.substr(15) + "[methods.dpsgd]\n",
     "epsilon 1 is there twice"},
    {"DeltaText", "delta = 'x'\n", "c.toml:1: delta: expected a number"},
    {"NoDelta", "epsilons = [1]\n" + kHead.substr(28) + "[methods.dpsgd]\n", "delta is needed"},
    {"DeltaOne", "epsilons = [1]\ndelta = 1\n" + kHead.substr(28) + "[methods.dpsgd]\n", "delta < 1"},
    {"FoldsHalf", "folds = 2.5\n", "c.toml:1: folds: expected a whole number >= 1"},
    {"OneFold", "folds = 1\n" + kHead + "[methods.dpsgd]\n", "expected 2 <= folds"},
    {"RepeatsZero", "repeats = 0\n", "c.toml:1: repeats: expected a whole number >= 1"},
    {"NothingToCompare", "epsilons = [1]\n", "expected at least one data set, got none"},
    {"NoMethod", kHead, "expected at least one method, got none"},
    {"DataNoTable", "data = 3\n", "c.toml:1: data: expected a table"},
    {"DataUnknownKey", "[data.a]\nfile = 'x'\n", "c.toml:2: file: unknown key; expected files, schema"},
    {"DataFilesNumber", "[data.a]\nfiles = 3\n", "c.toml:2: files: expected a text"},
    {"DataNoSchema", "epsilons=[1]\ndelta=0.1\n[data.a]\nfiles='x'\n[models.logistic]\n[methods.dpsgd]\n",
     "data set 'a' needs files and a schema"},
    {"ByDefaultText", "[data.a]\nby_default = 'no'\n", "by_default: expected true or false"},
    {"MethodUnknownKey", kHead + "[methods.dpsgd]\nlearning = 3\n",
     "c.toml:8: learning: unknown key; expected smooth, private, by_default, or one of a plan: "
     "row_norm, center, features, model"},
    {"MethodDecidesEpsilon", kHead + "[methods.dpsgd]\nepsilon = 3\n",
     "c.toml:8: epsilon: the comparison decides"},
    {"PlanDecidesData", "[plan]\ndata = 'x'\n", "c.toml:2: data: the comparison decides"},
    {"MethodOutOfRange", kHead + "[methods.dpsgd]\nrate = 2\n",
     "c.toml:8: rate: expected 0 < rate <= 1, got '2'"},
    {"MethodList", kHead + "[methods.dpsgd]\nrate = [2]\n", "c.toml:8: rate: expected a text, a number"},
    {"SmoothText", kHead + "[methods.dpsgd]\nsmooth = 1\n", "c.toml:8: smooth: expected true or false"},
    {"ModelSmoothNoTable", kHead + "[models.svm]\nsmooth = true\n", "c.toml:8: smooth: expected a table"},
    {"NameOfTheMean", kHead + "[methods.mean]\nmethod = 'dpsgd'\n", "method 'mean': expected another name"},
    {"NameWithComma", kHead + "[methods.'a,b']\nmethod = 'dpsgd'\n",
     "method 'a,b': expected a name of letters"},
};
INSTANTIATE_TEST_SUITE_P(Comparison, RefusedComparison, ::testing::ValuesIn(kBadTexts),
                         [](const auto& info) { return info.param.name; });

TEST(Comparison, TheExperimentsAreWellFormed) {
  const Comparison e1 = read_comparison(RATION_SOURCE_DIR "/experiments/e1.toml");
  EXPECT_TRUE(e1.is_public);
  EXPECT_EQ(e1.epsilons.size(), 6u);
  EXPECT_EQ(e1.folds, 10u);
  EXPECT_EQ(e1.repeats, 5u);
  EXPECT_EQ(e1.methods.size(), 15u);
  Comparison chosen = e1;
  choose_data(chosen, {}, "--data");
  EXPECT_THAT(names(chosen.data), ElementsAre("adult", "bank", "ipums-br", "ipums-us-1980"));
  const Comparison e6 = read_comparison(RATION_SOURCE_DIR "/experiments/e6.toml");
  EXPECT_EQ(e6.methods.size(), 16u);
  EXPECT_EQ(e6.methods[0].name, "auto");
  EXPECT_EQ(e6.data.size(), 6u);
}

}  // namespace
}  // namespace ration::testing
