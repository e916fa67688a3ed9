#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "baselines/bench.h"
#include "baselines/objective_perturbation.h"
#include "baselines/output_perturbation.h"
#include "mechanisms/objective_noise.h"
#include "objectives/fit_sensitivity.h"
#include "support/small_table.h"

namespace ration::testing {
namespace {

using ::testing::HasSubstr;

const PublicFacts kLogistic{.loss = "logistic",
                            .slope_bound = 1,
                            .curvature_bound = 0.25,
                            .one_sided = true,
                            .row_norm_bound = 1,
                            .label_classes = 2};

DescentFit descent(const OutputPerturbationOptions& options, double rows, std::size_t parameters) {
  return std::get<DescentFit>(output_perturbation_query(options, kLogistic, rows, parameters).fit);
}
PassesFit passes(const OutputPerturbationOptions& options, double rows, std::size_t parameters) {
  return std::get<PassesFit>(output_perturbation_query(options, kLogistic, rows, parameters).fit);
}

TEST(OutputPerturbation, StepsAreAsLongAsTheProofAllowsAndAsManyAsTheirNoiseIsWorth) {
  const OutputPerturbationOptions options{.noise_multiplier = 50, .ridge = 0};
  const double length = 16 / 0.25 * std::pow(0.25 * 10'000 / (50 * 10), 2.0 / 3);
  EXPECT_EQ(descent(options, 10'000, 100).step_size, 4);
  EXPECT_EQ(descent(options, 10'000, 100).steps, static_cast<std::uint64_t>(std::round(length / 4)));
  OutputPerturbationOptions quiet = options;
  quiet.noise_multiplier = 0.01;
  EXPECT_EQ(descent(quiet, 10'000, 100).steps, 200u);
  OutputPerturbationOptions loud = options;
  loud.noise_multiplier = 1e9;
  EXPECT_EQ(descent(loud, 10'000, 100).steps, 1u);
}

TEST(OutputPerturbation, PassesGoAsFar) {
  OutputPerturbationOptions options{.fit = OutputFit::bolt_on, .noise_multiplier = 50, .ridge = 0};
  const double length = 16 / 0.25 * std::pow(0.25 * 10'000 / (2 * 50 * 10), 2.0 / 3);
  const PassesFit bolt_on = passes(options, 10'000, 100);
  EXPECT_EQ(bolt_on.passes, 10u);
  EXPECT_EQ(bolt_on.batch, 50u);
  EXPECT_EQ(bolt_on.result, PassesFit::Result::last);
  EXPECT_NEAR(bolt_on.step_size * 10 * 200, length, 1e-9 * length);
  options.fit = OutputFit::pass_averages;
  EXPECT_EQ(passes(options, 10'000, 100).result, PassesFit::Result::pass_averages);
  EXPECT_NEAR(passes(options, 10'000, 100).step_size, 2 * bolt_on.step_size, 1e-12);
  options.noise_multiplier = 1e-6;
  EXPECT_EQ(passes(options, 10'000, 100).step_size, 4);
}

TEST(OutputPerturbation, TakesTheSettingsItIsGiven) {
  const OutputPerturbationOptions options{.ridge = 0.5, .row_norm = 2, .steps = 7, .step_size = 0.25};
  EXPECT_EQ(descent(options, 100, 3).steps, 7u);
  EXPECT_EQ(descent(options, 100, 3).step_size, 0.25);
  const OutputQuery query = output_perturbation_query(options, kLogistic, 100, 3);
  EXPECT_EQ(query.ridge, 0.5);
  EXPECT_EQ(query.row_norm, 2);
  const OutputPerturbationOptions other{.fit = OutputFit::bolt_on, .passes = 3, .batch = 8, .step_size = 0.5};
  EXPECT_EQ(passes(other, 100, 3).passes, 3u);
  EXPECT_EQ(passes(other, 100, 3).batch, 8u);
  EXPECT_EQ(passes(other, 100, 3).step_size, 0.5);
}

TEST(OutputPerturbation, ReportsItsStepAndNoise) {
  BaselineBench bench;
  const OutputPerturbationOptions options{.noise_multiplier = 3, .ridge = 0, .steps = 5, .step_size = 2};
  const auto method = make_output_perturbation(options, BaselineBench::kColumns);
  ASSERT_TRUE(method->step(bench.oracle));
  EXPECT_EQ(method->report().learning_rate, 2);
  EXPECT_NEAR(method->report().noise_stddev, 3 * 10.0 / BaselineBench::kRows, 1e-7);
}

// What the oracle refuses, with its reason, through the methods.
TEST(Perturbation, RefusesWhatItsProofsDoNotCover) {
  const auto reason = [](BaselineBench&& bench, const std::unique_ptr<Method>& method) {
    return refusal([&] { EXPECT_FALSE(method->step(bench.oracle)); });
  };
  const auto output = [](OutputPerturbationOptions options = {}) {
    return make_output_perturbation(options, 3);
  };
  const auto objective = [](ObjectivePerturbationOptions options = {}) {
    return make_objective_perturbation(options, 3);
  };
  for (const bool is_output : {true, false}) {
    const auto make = [&] { return is_output ? output() : objective(); };
    EXPECT_THAT(reason(BaselineBench(GlmLoss::hinge), make()), HasSubstr("'hinge' has a kink"));
    EXPECT_THAT(reason(BaselineBench(GlmLoss::squared), make()), HasSubstr("bounded slopes"));
    EXPECT_THAT(reason(BaselineBench(GlmLoss::logistic, Relation::add_remove, 9, 0), make()),
                HasSubstr("got no bound"));
    EXPECT_THAT(reason(BaselineBench(GlmLoss::logistic, Relation::add_remove, 9, 3), make()),
                HasSubstr("got a bound of 3"));
  }
  EXPECT_THAT(reason(BaselineBench(), output({.step_size = 4.1})),
              HasSubstr("expected 0 < step_size <= 1 /"));
  EXPECT_THAT(reason(BaselineBench(), output({.fit = OutputFit::bolt_on})), HasSubstr("replace_one only"));
}

TEST(ObjectivePerturbation, RaisesARidgeThatIsTooSmall) {
  const ObjectivePerturbationOptions options{.noise_multiplier = 50};
  EXPECT_EQ(objective_perturbation_query(options, kLogistic, 1e6, Relation::add_remove).ridge, 0.001);
  for (const Relation relation : {Relation::add_remove, Relation::replace_one}) {
    const double ridge = objective_perturbation_query(options, kLogistic, 1000, relation).ridge;
    EXPECT_GT(ridge, 0.001);
    // Half is left for the noise.
    const ObjectiveNoise noise(
        {.smoothness = 0.25, .regulariser = 1000 * ridge, .noise_multiplier = 50, .relation = relation});
    EXPECT_NEAR(noise.linear_stddev() * std::sqrt(0.99), relation == Relation::add_remove ? 100 : 200, 1e-6);
  }
}

TEST(ObjectivePerturbation, RunsWhereTheRidgeHadToBeRaised) {
  BaselineBench bench;
  const auto method = make_objective_perturbation({.noise_multiplier = 200}, BaselineBench::kColumns);
  EXPECT_TRUE(method->step(bench.oracle));
}

TEST(Perturbation, RefusesOptionsWithoutMeaning) {
  EXPECT_THAT(refusal([] { make_output_perturbation({.ridge = -1}, 3); }), HasSubstr("ridge"));
  EXPECT_THAT(refusal([] { make_output_perturbation({.row_norm = 0}, 3); }), HasSubstr("row_norm"));
  EXPECT_THAT(refusal([] { make_output_perturbation({.batch = 0}, 3); }), HasSubstr("batch"));
  EXPECT_THAT(refusal([] { make_output_perturbation({.step_size = -1}, 3); }), HasSubstr("step_size"));
  EXPECT_THAT(refusal([] { make_objective_perturbation({.ridge = 0}, 3); }), HasSubstr("ridge"));
  EXPECT_THAT(refusal([] { make_objective_perturbation({.row_norm = 0}, 3); }), HasSubstr("row_norm"));
  EXPECT_THAT(refusal([] { make_objective_perturbation({.curvature_share = 1}, 3); }),
              HasSubstr("curvature_share"));
}

}  // namespace
}  // namespace ration::testing
