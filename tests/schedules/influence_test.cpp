#include "schedules/influence.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "ration/base/error.h"
#include "schedules/noise_shape.h"
#include "steps/step_rule.h"

namespace ration::testing {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;

const std::vector<double> kCurvatures = {0.1, 0.5, 1, 2, 4};

std::string complaint_of(const std::function<void()>& act) {
  try {
    act();
    return "";
  } catch (const InputError& error) {
    return error.what();
  }
}

// What is left in the last iterate of one unit of noise in step t, along one eigenvector: a run from the
// minimum.
double response(double curvature, const QuadraticRun& run, std::int64_t steps, std::int64_t noisy_step) {
  StepOptions options;
  options.kind = run.momentum > 0 ? StepKind::momentum : StepKind::sgd;
  options.momentum = run.momentum;
  const auto rule = make_step_rule(options, 1);
  std::vector<double> w = {0};
  for (std::int64_t t = 1; t <= steps; ++t) {
    const std::vector<double> gradient = {curvature * w[0] + (t == noisy_step ? run.noise_unit : 0)};
    rule->step({.value = gradient}, run.learning_rate, w);
  }
  return w[0];
}

// The mean final loss of noisy descent on a quadratic, exactly: c + sum of q_t s_t^2.
FinalLoss exact_loss(std::vector<double> influence) {
  return [influence = std::move(influence)](std::span<const double> noise) {
    double loss = 0.25;
    for (std::size_t t = 0; t < noise.size(); ++t) loss += influence[t] * noise[t] * noise[t];
    return loss;
  };
}

TEST(Influence, OnAQuadraticIsWhatARunShows) {
  for (const double momentum : {0.0, 0.5, 0.9}) {
    const QuadraticRun run{.learning_rate = 0.2, .momentum = momentum, .noise_unit = 3};
    constexpr std::int64_t kSteps = 30;
    const std::vector<double> influence = influence_on_quadratic(kCurvatures, kSteps, run);
    for (std::int64_t t = 1; t <= kSteps; ++t) {
      double expected = 0;
      for (const double h : kCurvatures) expected += h * std::pow(response(h, run, kSteps, t), 2) / 2;
      EXPECT_NEAR(influence[static_cast<std::size_t>(t - 1)] / expected, 1, 1e-9) << momentum << " " << t;
    }
  }
}

TEST(Influence, WithoutMomentumIsTheTextbooksForm) {
  const QuadraticRun run{.learning_rate = 0.1, .momentum = 0, .noise_unit = 1};
  const std::vector<double> influence = influence_on_quadratic(std::vector<double>{2.0}, 5, run);
  for (int t = 1; t <= 5; ++t) {
    EXPECT_NEAR(influence[static_cast<std::size_t>(t - 1)], 0.5 * 2 * 0.01 * std::pow(0.8, 2 * (5 - t)),
                1e-15);
  }
}

// A step size of 1 / h forgets all earlier noise; a shape exists nevertheless.
TEST(Influence, ForgottenNoiseKeepsATinyInfluence) {
  const std::vector<double> influence = influence_on_quadratic(
      std::vector<double>{1.0}, 3, {.learning_rate = 1, .momentum = 0, .noise_unit = 1});
  EXPECT_THAT(influence, ::testing::ElementsAre(0.5e-6, 0.5e-6, 0.5));
  EXPECT_NO_THROW(noise_for_influence(influence));
}

TEST(Influence, RetrainingFindsTheCoefficientOfTheSquare) {
  const std::vector<double> truth =
      influence_on_quadratic(kCurvatures, 20, {.learning_rate = 0.1, .momentum = 0.9});
  const std::vector<double> noise(20, 7.0);
  const std::vector<double> found = influence_by_retraining(exact_loss(truth), noise);
  for (std::size_t t = 0; t < truth.size(); ++t) EXPECT_NEAR(found[t] / truth[t], 1, 1e-6) << t;
}

// The product with other steps' noise is odd in step t's, whatever its size.
TEST(Influence, MirroredNoiseCancelsProducts) {
  const FinalLoss loss = [](std::span<const double> noise) {
    return 1 + 2 * noise[0] * noise[0] + 3 * noise[1] * noise[1] + 50 * noise[0] * noise[1] + noise[1];
  };
  const std::vector<double> found = influence_by_retraining(loss, std::vector<double>{1, 2});
  EXPECT_NEAR(found[0], 2, 1e-9);
  EXPECT_NEAR(found[1], 3, 1e-9);
}

// Noisy descent on a quadratic in 5 x 40 dimensions, 16 draws of the noise used again and again, against the
// Hessian's form. Each estimate is a mean of 3200 squares, whose deviation is at most sqrt(2 / 640) = 6 %
// where one curvature counts alone; 30 % are five deviations, and the seed is fixed.
TEST(Influence, RetrainingAndHessianAgreeOnQuadratics) {
  for (const double momentum : {0.0, 0.9}) {
    constexpr std::size_t kSteps = 25;
    constexpr std::size_t kCopies = 40;
    constexpr int kRuns = 16;
    std::mt19937_64 random(3);
    std::normal_distribution<double> normal;
    const std::size_t parameters = kCurvatures.size() * kCopies;
    std::vector<double> draws(kRuns * kSteps * parameters);
    for (double& draw : draws) draw = normal(random);
    const QuadraticRun run{.learning_rate = 0.2, .momentum = momentum, .noise_unit = 1};
    const FinalLoss loss = [&](std::span<const double> noise) {
      double sum = 0;
      for (std::size_t k = 0; k < kRuns; ++k) {
        StepOptions options;
        options.kind = StepKind::momentum;
        options.momentum = momentum;
        const auto rule = make_step_rule(options, parameters);
        std::vector<double> w(parameters, 1.0);
        std::vector<double> gradient(parameters);
        for (std::size_t t = 0; t < kSteps; ++t) {
          for (std::size_t i = 0; i < parameters; ++i) {
            gradient[i] = kCurvatures[i % kCurvatures.size()] * w[i] +
                          noise[t] * draws[(k * kSteps + t) * parameters + i];
          }
          rule->step({.value = gradient}, run.learning_rate, w);
        }
        for (std::size_t i = 0; i < parameters; ++i)
          sum += kCurvatures[i % kCurvatures.size()] * w[i] * w[i] / 2;
      }
      return sum / kRuns;
    };
    std::vector<double> curvatures;
    for (std::size_t i = 0; i < parameters; ++i) curvatures.push_back(kCurvatures[i % kCurvatures.size()]);
    const std::vector<double> truth = influence_on_quadratic(curvatures, kSteps, run);
    const std::vector<double> found = influence_by_retraining(loss, std::vector<double>(kSteps, 0.5));
    for (std::size_t t = 0; t < kSteps; ++t) EXPECT_NEAR(found[t] / truth[t], 1, 0.3) << momentum << " " << t;
    EXPECT_NEAR(fit_exponential(found).gamma, fit_exponential(truth).gamma, 0.03);
  }
}

TEST(Influence, StepsThatWereNotTriedLieBetween) {
  std::vector<double> truth;
  for (int t = 1; t <= 101; ++t) truth.push_back(std::pow(0.9, 101 - t));
  int calls = 0;
  const FinalLoss exact = exact_loss(truth);
  const FinalLoss counted = [&](std::span<const double> noise) { return ++calls, exact(noise); };
  const std::vector<double> found =
      influence_by_retraining(counted, std::vector<double>(101, 10.0), {.most_steps = 5});
  EXPECT_EQ(calls, 5 * 3 * 2);
  ASSERT_EQ(found.size(), truth.size());
  for (std::size_t t = 26; t < truth.size(); ++t) EXPECT_NEAR(found[t] / truth[t], 1, 1e-3) << t;
}

TEST(Influence, OneStepIsVariedAtATime) {
  const std::vector<double> noise = {3, 4, 5, 6};
  const FinalLoss loss = [&](std::span<const double> tried) {
    int changed = 0;
    double sum = 0;
    for (std::size_t t = 0; t < noise.size(); ++t) {
      changed += tried[t] == noise[t] ? 0 : 1;
      sum += tried[t] * tried[t];
    }
    EXPECT_LE(changed, 1);
    return sum;
  };
  influence_by_retraining(loss, noise);
}

TEST(Influence, EstimatesBelowZeroAreRaised) {
  const std::vector<double> found =
      influence_by_retraining(exact_loss({1, -0.5, 0}), std::vector<double>{1, 1, 1});
  EXPECT_NEAR(found[0], 1, 1e-12);
  EXPECT_THAT((std::vector<double>{found[1], found[2]}), Each(::testing::DoubleNear(1e-6, 1e-12)));
}

TEST(Influence, OneStepHasOneEstimate) {
  EXPECT_EQ(influence_by_retraining(exact_loss({2}), std::vector<double>{3}).size(), 1u);
}

TEST(Influence, TheExponentialFitFindsGamma) {
  for (const double gamma : {0.5, 0.97, 1.1}) {
    std::vector<double> influence;
    for (int t = 1; t <= 40; ++t) influence.push_back(3 * std::pow(gamma, 40 - t));
    const ExponentialInfluence fit = fit_exponential(influence);
    EXPECT_NEAR(fit.gamma, gamma, 1e-9);
    EXPECT_NEAR(fit.scale, 3, 1e-9);
  }
  EXPECT_EQ(fit_exponential(std::vector<double>{5}).gamma, 1);
  EXPECT_NEAR(fit_exponential(std::vector<double>{5}).scale, 5, 1e-12);
}

// Steps that count little because they were raised to a floor do not spoil the fit of those that count.
TEST(Influence, TheFitListensToTheStepsThatCount) {
  std::vector<double> influence;
  for (int t = 1; t <= 100; ++t) influence.push_back(std::max(1e-6, std::pow(0.8, 100 - t)));
  EXPECT_NEAR(fit_exponential(influence).gamma, 0.8, 0.03);
}

TEST(Influence, RefusesWhatBreaksAnInequality) {
  const std::vector<double> noise = {1, 1};
  const FinalLoss flat = exact_loss({0, 0});
  EXPECT_THAT(complaint_of([&] { influence_by_retraining(flat, noise); }),
              HasSubstr("largest estimate is 0"));
  EXPECT_THAT(complaint_of([&] { influence_by_retraining(flat, {}); }), HasSubstr("steps >= 1"));
  EXPECT_THAT(complaint_of([&] {
                influence_by_retraining(flat, std::vector<double>{1, 0});
              }),
              HasSubstr("noise > 0"));
  EXPECT_THAT(complaint_of([&] {
                influence_by_retraining(flat, noise, {.factors = {2, 2}});
              }),
              HasSubstr("two factors that differ"));
  EXPECT_THAT(complaint_of([&] { influence_by_retraining(flat, noise, {.factors = {}}); }),
              HasSubstr("two factors that differ"));
  EXPECT_THAT(complaint_of([&] { influence_by_retraining(flat, noise, {.most_steps = 1}); }),
              HasSubstr("most_steps >= 2"));
  const FinalLoss broken = [](std::span<const double>) { return std::numeric_limits<double>::quiet_NaN(); };
  EXPECT_THAT(complaint_of([&] { influence_by_retraining(broken, noise); }), HasSubstr("final loss is nan"));
  EXPECT_THAT(complaint_of([&] { influence_on_quadratic(kCurvatures, 0, {}); }), HasSubstr("steps"));
  EXPECT_THAT(complaint_of([&] { influence_on_quadratic(kCurvatures, 5, {.learning_rate = 0}); }),
              HasSubstr("learning_rate > 0"));
  EXPECT_THAT(complaint_of([&] { influence_on_quadratic(kCurvatures, 5, {.momentum = 1}); }),
              HasSubstr("momentum < 1"));
  EXPECT_THAT(complaint_of([&] { influence_on_quadratic(kCurvatures, 5, {.noise_unit = 0}); }),
              HasSubstr("noise_unit > 0"));
  EXPECT_THAT(complaint_of([&] { influence_on_quadratic(std::vector<double>{-1}, 5, {}); }),
              HasSubstr("eigenvalue >= 0"));
  EXPECT_THAT(complaint_of([&] { fit_exponential({}); }), HasSubstr("steps >= 1"));
  EXPECT_THAT(complaint_of([&] { fit_exponential(std::vector<double>{1, 0}); }), HasSubstr("influence > 0"));
}

}  // namespace
}  // namespace ration::testing
