// What a method uses of a plan: every other setting is refused, and what is not refused counts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "ration/train/resolve.h"
#include "support/places.h"
#include "support/small_table.h"
#include "train/method_plan.h"
#include "train/parts_of_choices.h"
#include "train/runs.h"

namespace ration::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

struct Change {
  std::string to;          // not its default
  std::string also_key{};  // what has to be chosen for the key to count
  std::string also_text{};
};

// Every setting that is the method's own business. Shapes are flat enough for the noise below.
const std::map<std::string, Change>& changes() {
  static const std::string protectors = RATION_SOURCE_DIR "/protectors/";
  static const std::map<std::string, Change> all = {
      {"steps", {"7"}},
      {"epochs", {"3"}},
      {"schedule", {"time"}},
      {"gamma", {"0.99", "schedule", "influence"}},
      {"schedule_rate", {"0.02", "schedule", "exponential"}},
      {"schedule_every", {"20", "schedule", "step"}},
      {"schedule_factor", {"0.95", "schedule", "step"}},
      {"schedule_end", {"0.25", "schedule", "polynomial"}},
      {"schedule_power", {"2", "schedule", "polynomial"}},
      {"noise", {"500"}},
      {"clip", {"auto-v"}},
      {"clip_bound", {"0.77"}},
      {"clip_gamma", {"0.5", "clip", "auto-s"}},
      {"clip_quantile", {"0.9", "clip", "adaptive"}},
      {"clip_follow_rate", {"0.7", "clip", "adaptive"}},
      {"per_layer", {"true"}},
      {"expected_steps", {"77"}},
      {"loss_bound", {"5"}},
      {"search_noise", {"gaussian"}},
      {"first_step", {"0.3"}},
      {"candidates", {"9"}},
      {"shrink", {"0.5"}},
      {"decrease", {"0.25"}},
      {"raise", {"0.7"}},
      {"clip_decay", {"0.2"}},
      {"protector", {protectors + "logistic-0.2.protector"}},
      {"step", {"nesterov"}},
      {"lr", {"0.123"}},
      {"lr_shape", {"cosine"}},
      {"warm_up", {"4"}},
      {"drop_every", {"7", "lr_shape", "step"}},
      {"drop_factor", {"0.3", "lr_shape", "step"}},
      {"momentum", {"0.33"}},
      {"second_momentum", {"0.7", "step", "adam"}},
      {"stability", {"0.01", "step", "adam"}},
      {"weight_decay", {"0.33"}},
      {"noise_correction", {"true", "step", "adam"}},
      {"average", {"exponential"}},
      {"average_decay", {"0.3", "average", "exponential"}},
  };
  return all;
}

void set(Plan& plan, const std::string& key, const std::string& text) {
  plan_key(key).set(plan, "test", text);
}

std::string settings_of(const ResolvedPlan& plan) {
  return std::visit(
      [](const auto& method) -> std::string {
        if constexpr (requires { method->settings(); })
          return method->settings();
        else
          return std::to_string(method.ridge);
      },
      plan.method);
}

class SettingsOf : public ::testing::TestWithParam<MethodKind> {
 protected:
  // With a noise that fits the budget, so that none has to be looked for.
  Plan plan() const {
    Plan plan;
    plan.method = GetParam();
    plan.rows = 1000;
    plan.epsilon = 4;
    plan.delta = 1e-6;
    if (is_used(plan, "noise")) plan.noise = 1000;
    return plan;
  }
};
INSTANTIATE_TEST_SUITE_P(Each, SettingsOf, ::testing::ValuesIn(every<MethodKind>()), [](const auto& info) {
  std::string name(to_string(info.param));
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

TEST_P(SettingsOf, AreUsedOrRefused) {
  for (const auto& [key, change] : changes()) {
    SCOPED_TRACE(key);
    Plan before = plan();
    if (!is_used(before, key)) {
      set(before, key, change.to);
      EXPECT_THAT(refusal([&] { resolve(before); }),
                  AllOf(HasSubstr("plan: " + key + ": method " + std::string(before.method.name())),
                        HasSubstr("leave it out")));
      continue;
    }
    if (key == "drop_factor") set(before, "drop_every", "5");
    if (!change.also_key.empty()) set(before, change.also_key, change.also_text);
    if (key == "drop_every") before.drop_every = 5;
    Plan after = before;
    forget_other_way(after, key, change.to);
    set(after, key, change.to);
    const ResolvedPlan first = resolve(before), second = resolve(after);
    if (key == "noise") {
      EXPECT_NE(first.noise_multiplier, second.noise_multiplier);
    } else {
      EXPECT_NE(settings_of(first), settings_of(second));
    }
  }
}

// A setting of one schedule, clip rule or step rule means nothing to another.
TEST_P(SettingsOf, PartsOfOtherChoicesAreRefused) {
  for (const PartOfChoice& part : parts_of_choices()) {
    const std::string key(part.key), choice(part.choice);
    if (key == "huber_width" || !is_used(plan(), key)) continue;
    SCOPED_TRACE(key);
    Plan other = plan();
    set(other, key, changes().at(key).to);
    if (choice == "step") set(other, choice, "sgd");  // dpadam's own step rule uses them
    EXPECT_THAT(refusal([&] { resolve(other); }),
                AllOf(HasSubstr("plan: " + key + ": only " + choice), HasSubstr("leave it out")));
  }
}

TEST(Settings, PartsOfChoicesAreKeysAndValuesOfPlans) {
  for (const PartOfChoice& part : parts_of_choices()) {
    SCOPED_TRACE(part.key);
    plan_key(part.key);
    Plan plan;
    for (const std::string_view value : part.values)
      EXPECT_EQ(refusal([&] { set(plan, std::string(part.choice), std::string(value)); }), "");
  }
}

TEST(Settings, TheHuberLossAloneHasAWidth) {
  Plan plan;
  plan.rows = 1000;
  plan.epsilon = 1;
  plan.delta = 1e-6;
  plan.huber_width = 0.3;
  EXPECT_THAT(refusal([&] { resolve(plan); }), HasSubstr("huber_width: only model huber"));
  plan.model = GlmLoss::huber;
  EXPECT_EQ(refusal([&] { resolve(plan); }), "");
}

// Whatever was chosen, the plan.toml of a run can be read and resolved again.
TEST_P(SettingsOf, ResolveToAFixedPoint) {
  const ResolvedPlan once = resolve(plan());
  const ResolvedPlan twice = resolve(parse_plan(to_toml(once.plan)));
  EXPECT_EQ(to_toml(twice.plan), to_toml(once.plan));
  EXPECT_EQ(settings_of(twice), settings_of(once));
}

TEST(Settings, EveryKeyIsForAllMethodsOrTriedAbove) {
  Plan plan;
  plan.method = MethodKind::majority;  // uses the noise alone
  for (const PlanKey& key : plan_keys()) {
    EXPECT_NE(is_used(plan, key.name) && key.name != "noise", changes().contains(key.name)) << key.name;
  }
}

TEST(Settings, SayWhyTheyAreRefused) {
  Plan plan;
  plan.method = MethodKind::blsgd;
  plan.epsilon = 1;
  plan.delta = 1e-6;
  plan.rows = 1000;
  plan.steps = 10;
  EXPECT_EQ(refusal([&] { resolve(plan); }),
            "plan: steps: method blsgd chooses its own number of steps; leave it out");
  plan.steps.reset();
  plan.lr_shape = RateShape::constant;  // a default says nothing
  EXPECT_NO_THROW(resolve(plan));
}

}  // namespace
}  // namespace ration::testing
