// Everything that exists can be named by a plan.
#include "ration/train/choices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <regex>
#include <set>

#include "ration/train/plan.h"
#include "steps/step_rule.h"
#include "support/child_process.h"
#include "support/places.h"
#include "support/small_table.h"
#include "train/method_plan.h"
#include "train/noise_plan.h"
#include "train/runs.h"

namespace ration::testing {
namespace {

using ::testing::HasSubstr;

// How often the pattern is found in the files of these folders.
std::size_t found_in(std::initializer_list<const char*> folders, const std::string& pattern) {
  std::size_t count = 0;
  const std::regex wanted(pattern);
  for (const char* folder : folders) {
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator(std::filesystem::path(RATION_SOURCE_DIR) / folder)) {
      if (!entry.is_regular_file()) continue;
      const std::string text = read_whole_file(entry.path().string());
      count += static_cast<std::size_t>(
          std::distance(std::sregex_iterator(text.begin(), text.end(), wanted), std::sregex_iterator()));
    }
  }
  return count;
}

template <class Enum>
void expect_named_by(const std::string& key) {
  for (const Enum value : every<Enum>()) {
    Plan plan;
    EXPECT_NO_THROW(plan_key(key).set(plan, "test", to_string(value))) << to_string(value);
    EXPECT_EQ(plan_key(key).get(plan), '"' + std::string(to_string(value)) + '"');
    const auto& choices = plan_key(key).choices;
    EXPECT_TRUE(std::any_of(choices.begin(), choices.end(), [&](const NameAndHelp& choice) {
      return choice.name == to_string(value);
    })) << to_string(value);
  }
}

TEST(Choices, EveryOneOfAnEnumerationIsAValueOfItsKey) {
  expect_named_by<MethodKind>("method");
  expect_named_by<GlmLoss>("model");
  expect_named_by<Accountant>("accountant");
  expect_named_by<Relation>("relation");
  expect_named_by<Sampling>("sampling");
  expect_named_by<ScheduleKind>("schedule");
  expect_named_by<ClipKind>("clip");
  expect_named_by<SearchNoise>("search_noise");
  expect_named_by<StepKind>("step");
  expect_named_by<RateShape>("lr_shape");
  expect_named_by<Averaging>("average");
  expect_named_by<Centering>("center");
  expect_named_by<Features>("features");
  expect_named_by<data::OnBadRow>("on_bad_row");
}

TEST(Choices, EveryNoiseShapeHasASchedule) {
  std::set<std::size_t> shapes;
  for (const ScheduleKind kind : every<ScheduleKind>()) {
    Plan plan;
    plan.schedule = kind;
    shapes.insert(shape_of(plan).index());
  }
  EXPECT_EQ(shapes.size(), std::variant_size_v<NoiseShape>);
}

TEST(Choices, EveryClipRuleHasAKind) {
  std::set<std::size_t> rules;
  for (const ClipKind kind : every<ClipKind>()) {
    const AnyClipRule rule = AnyClipRule::of(kind, 2, 0.5);
    rules.insert(static_cast<std::size_t>(rule.kind()));
    EXPECT_EQ(rule.kind(), kind == ClipKind::adaptive ? ClipKind::abadi : kind);
  }
  EXPECT_EQ(rules.size(), std::variant_size_v<AnyClipRule::Rules>);
  EXPECT_EQ(found_in({"include/ration/clipping", "src/clipping"}, R"(static_assert\(ClipRule<)"),
            rules.size());
}

TEST(Choices, EveryStepRuleHasAKind) {
  for (const StepKind kind : every<StepKind>()) EXPECT_NO_THROW(make_step_rule(usual_step_options(kind), 1));
  // adam and adamw are one update.
  EXPECT_EQ(found_in({"src/steps"}, R"(return rule<steps::)"), every<StepKind>().size() - 1);
}

TEST(Choices, EveryLossHasAName) {
  EXPECT_EQ(found_in({"src/objectives/glm"}, R"(\nstruct \w+Loss\b)"), every<GlmLoss>().size());
}

TEST(Choices, EverySamplerHasAName) {
  EXPECT_EQ(found_in({"include/ration/sampling", "src/sampling"}, R"(: public Sampler\b)"),
            every<Sampling>().size());
}

TEST(Choices, EveryMethodHasOneRecipe) {
  EXPECT_EQ(recipes().size(), every<MethodKind>().size());
  for (const MethodKind method : every<MethodKind>()) EXPECT_EQ(recipe_of(method).method, method);
}

TEST(Choices, EveryAccountantHasAFile) {
  for (const Accountant accountant : every<Accountant>()) {
    if (accountant == Accountant::moments) continue;  // rdp at whole orders
    const std::filesystem::path root = RATION_SOURCE_DIR;
    EXPECT_TRUE(std::filesystem::exists(root / "src/privacy" / (std::string(to_string(accountant)) + ".cpp")))
        << to_string(accountant);
  }
}

TEST(ModelName, KnowsLinearModelsAndRefusesOthersWithTheList) {
  EXPECT_EQ(ModelName("hinge").loss(), GlmLoss::hinge);
  EXPECT_FALSE(ModelName("hinge").sees_scattering());
  EXPECT_TRUE(ModelName("scatter+softmax").sees_scattering());
  EXPECT_EQ(ModelName("scatter+softmax").loss(), GlmLoss::softmax);
  EXPECT_EQ(ModelName("scatter+softmax").name(), "scatter+softmax");
  EXPECT_THAT(refusal([] { ModelName("scatter+hinge"); }),
              HasSubstr("model: expected one of auto, logistic"));
  EXPECT_THAT(refusal([] { ModelName("--model", "logistik"); }),
              HasSubstr("got 'logistik'; did you mean 'logistic'?"));
}

}  // namespace
}  // namespace ration::testing
