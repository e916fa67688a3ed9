#include "schedules/step_count.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "ration/base/error.h"
#include "schedules/noise_shape.h"

namespace ration::testing {
namespace {

constexpr double kGammas[] = {0.5, 0.8, 0.9, 0.97, 0.99};
constexpr double kAlphas[] = {1e-1, 1e-2, 1e-3, 1e-5, 1e-7};

template <class Bound>
std::int64_t brute_force(const Bound& bound) {
  std::int64_t best = 1;
  for (std::int64_t t = 2; t < 5000; ++t) {
    if (bound(static_cast<double>(t)) < bound(static_cast<double>(best))) best = t;
  }
  return best;
}

TEST(StepCount, TheGeneralBoundAgreesWithBothClosedForms) {
  const RiskConstants constants{.gamma = 0.9, .alpha = 0.01};
  for (const std::int64_t steps : {1, 7, 40}) {
    const auto t = static_cast<double>(steps);
    EXPECT_NEAR(excess_risk_bound(constants, relative_noise(UniformNoise{}, steps)),
                uniform_risk_bound(constants, t), 1e-12);
    EXPECT_NEAR(excess_risk_bound(constants, relative_noise(InfluenceNoise{0.9}, steps)),
                dynamic_risk_bound(constants, t), 1e-12);
  }
  EXPECT_LT(dynamic_risk_bound(constants, 20), uniform_risk_bound(constants, 20));
}

TEST(StepCount, MinimisesTheBoundAmongIntegers) {
  for (const double gamma : kGammas) {
    for (const double alpha : kAlphas) {
      const RiskConstants constants{gamma, alpha};
      EXPECT_EQ(uniform_steps(constants),
                brute_force([&](double t) { return uniform_risk_bound(constants, t); }))
          << gamma << " " << alpha;
      EXPECT_EQ(dynamic_steps(constants),
                brute_force([&](double t) { return dynamic_risk_bound(constants, t); }))
          << gamma << " " << alpha;
    }
  }
}

// The closed form of [Hong22, Thm 4.2] is of the right order where alpha is small, and far off where it is
// not.
TEST(StepCount, ThePapersUniformFormIsNoMinimiser) {
  const RiskConstants small{.gamma = 0.5, .alpha = 1e-7};
  EXPECT_LE(std::abs(paper_uniform_steps(small) - uniform_steps(small)), 1);
  const RiskConstants large{.gamma = 0.97, .alpha = 1e-3};
  EXPECT_EQ(paper_uniform_steps(large), 114);
  EXPECT_EQ(uniform_steps(large), 13);
  EXPECT_GT(uniform_risk_bound(large, 114), 4 * uniform_risk_bound(large, 13));
}

// [Hong22, Thm 4.1] on f(w) = sum of h_i w_i^2 / 2 with m <= h_i <= M, step size 1 / M and clipping out of
// play: the mean final error over many runs stays below the bound. One step adds N(0, (G s_t / N)^2) to each
// coordinate of the gradient. Fails by chance with probability < 1e-6: the bound is at least 5 standard
// errors away.
TEST(StepCount, TheBoundHoldsOnQuadratics) {
  std::mt19937_64 random(11);
  std::normal_distribution<double> normal;
  constexpr std::size_t kParameters = 5;
  constexpr double kNoisePerStep = 0.05;  // G s / N for relative noise 1
  for (const double condition : {2.0, 10.0, 30.0}) {
    const double gamma = 1 - 1 / condition;
    for (const std::int64_t steps : {5, 30}) {
      const std::vector<double> shape = relative_noise(InfluenceNoise{gamma}, steps);
      double cost = 0;
      for (const double s : shape) cost += 1 / (s * s);
      std::vector<double> h(kParameters);
      for (std::size_t i = 0; i < kParameters; ++i) {
        h[i] = 1 + (condition - 1) * static_cast<double>(i) / (kParameters - 1);
      }
      double initial = 0;
      for (const double curvature : h) initial += curvature / 2;
      // R = cost, G = 1, N = 1 / kNoisePerStep.
      const double alpha = risk_alpha({.parameters = kParameters,
                                       .gradient_bound = 1,
                                       .budget = cost,
                                       .smoothness = condition,
                                       .rows = 1 / kNoisePerStep,
                                       .initial_error = initial});
      const double bound = excess_risk_bound({gamma, alpha}, shape) * initial;
      double sum = 0;
      double squares = 0;
      constexpr int kRuns = 4000;
      for (int run = 0; run < kRuns; ++run) {
        std::vector<double> w(kParameters, 1.0);
        for (const double s : shape) {
          for (std::size_t i = 0; i < kParameters; ++i)
            w[i] -= (h[i] * w[i] + kNoisePerStep * s * normal(random)) / condition;
        }
        double error = 0;
        for (std::size_t i = 0; i < kParameters; ++i) error += h[i] * w[i] * w[i] / 2;
        sum += error;
        squares += error * error;
      }
      const double mean = sum / kRuns;
      const double standard_error = std::sqrt((squares / kRuns - mean * mean) / kRuns);
      EXPECT_LT(mean + 5 * standard_error, bound * (1 + 1e-9)) << condition << " " << steps;
    }
  }
}

TEST(StepCount, RefusesWhatBreaksAnInequality) {
  EXPECT_THROW(uniform_steps({.gamma = 1, .alpha = 1}), InputError);
  EXPECT_THROW(dynamic_steps({.gamma = 0.5, .alpha = 0}), InputError);
  EXPECT_THROW(risk_alpha({.rows = 0}), InputError);
  EXPECT_THROW(excess_risk_bound({}, std::vector<double>{0}), InputError);
}

}  // namespace
}  // namespace ration::testing
