// What output perturbation, objective perturbation and the majority have in common: one question, and done.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "baselines/bench.h"
#include "baselines/majority.h"
#include "baselines/objective_perturbation.h"
#include "baselines/output_perturbation.h"
#include "support/small_table.h"

namespace ration::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Vector = std::vector<double>;

struct Baseline {
  std::string name;
  std::function<std::unique_ptr<Method>(double noise)> make;
  Event event;  // at noise 2
};

std::vector<Baseline> baselines() {
  const std::size_t size = BaselineBench::kColumns;
  const auto output = [=](OutputFit fit) {
    return
        [=](double noise) { return make_output_perturbation({.fit = fit, .noise_multiplier = noise}, size); };
  };
  return {{"GradientDescent", output(OutputFit::gradient_descent), output_perturbation_event(2)},
          {"BoltOn", output(OutputFit::bolt_on), output_perturbation_event(2)},
          {"PassAverages", output(OutputFit::pass_averages), output_perturbation_event(2)},
          {"Objective",
           [=](double noise) { return make_objective_perturbation({.noise_multiplier = noise}, size); },
           objective_perturbation_event(2)},
          {"Majority",
           [=](double noise) { return make_majority({.noise_multiplier = noise, .bias_column = 2}, size); },
           majority_event(2)}};
}

class OneReleaseOf : public ::testing::TestWithParam<Baseline> {};

TEST_P(OneReleaseOf, AsksOnceAndIsDone) {
  BaselineBench bench(GlmLoss::logistic, Relation::replace_one);
  const auto method = GetParam().make(2);
  EXPECT_EQ(bench.weights_of(*method), Vector(3, 0.0));
  ASSERT_TRUE(method->step(bench.oracle));
  const Vector weights = bench.weights_of(*method);
  EXPECT_NE(weights, Vector(3, 0.0));
  EXPECT_EQ(method->report().step, 1);
  EXPECT_FALSE(method->step(bench.oracle));
  EXPECT_EQ(bench.weights_of(*method), weights);
  EXPECT_THAT(bench.journal, ElementsAre(GetParam().event.describe()));
}

TEST_P(OneReleaseOf, DoesNothingIfTheBudgetRefuses) {
  BaselineBench bench(GlmLoss::logistic, Relation::replace_one, 0);
  const auto method = GetParam().make(2);
  const MethodState before = method->save();
  EXPECT_FALSE(method->step(bench.oracle));
  EXPECT_EQ(method->save(), before);
  EXPECT_EQ(method->report().step, 0);
}

TEST_P(OneReleaseOf, GoesOnFromItsState) {
  BaselineBench bench(GlmLoss::logistic, Relation::replace_one);
  const auto first = GetParam().make(2), second = GetParam().make(2), third = GetParam().make(2);
  second->restore(first->save());
  ASSERT_TRUE(second->step(bench.oracle));
  third->restore(second->save());
  EXPECT_EQ(third->save(), second->save());
  EXPECT_EQ(bench.weights_of(*third), bench.weights_of(*second));
  EXPECT_FALSE(third->step(bench.oracle));
  MethodState state = second->save();
  state.erase("weights");
  EXPECT_THAT(refusal([&] { third->restore(state); }), HasSubstr("lacks 'weights'"));
  state = second->save();
  state["weights"].push_back(1);
  EXPECT_THAT(refusal([&] { third->restore(state); }), HasSubstr("expected 3 weights, got 4"));
  for (const double step : {2.0, 0.5, -1.0}) {
    state = second->save();
    state["step"] = {step};
    EXPECT_NE(refusal([&] { third->restore(state); }), "");
  }
}

TEST_P(OneReleaseOf, IsRightWithLittleNoise) {
  BaselineBench bench(GlmLoss::logistic, Relation::replace_one);
  const auto method = GetParam().make(0.01);
  EXPECT_GT(bench.accuracy(bench.run(*method)), GetParam().name == "Majority" ? 0.55 : 0.93);
}

TEST_P(OneReleaseOf, RefusesNoNoise) {
  for (const double noise : {0.0, -1.0}) {
    EXPECT_THAT(refusal([&] { GetParam().make(noise); }), HasSubstr("noise_multiplier"));
  }
}

INSTANTIATE_TEST_SUITE_P(Each, OneReleaseOf, ::testing::ValuesIn(baselines()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace ration::testing
