#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "steps/runs.h"

namespace ration::testing {
namespace {

constexpr std::size_t kSteps = 5000;
constexpr std::size_t kParameters = 400;

// What the rule divides by, squared: without momentum a step is rate * g / (sqrt(moment) + stability).
template <class NoiseOf>
std::vector<double> last_moments(bool corrected, const Vectors& gradients, NoiseOf noise_of) {
  constexpr double kStability = 1e-8;
  const auto rule = make_step_rule(
      {.kind = StepKind::adam, .momentum = 0, .stability = kStability, .noise_correction = corrected},
      kParameters);
  std::vector<double> w(kParameters), moments(kParameters);
  for (std::size_t t = 1; t <= kSteps; ++t) {
    std::ranges::fill(w, 0.0);
    rule->step({.value = gradients[t - 1], .noise_stddev = noise_of(t)}, 1, w);
  }
  for (std::size_t i = 0; i < kParameters; ++i) {
    const double root = gradients.back()[i] / -w[i] - kStability;
    moments[i] = root * root;
  }
  return moments;
}

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

// A moment of pure noise has mean stddev^2 and a standard error of 3.2 % of that (r = 0.999).
TEST(NoiseCorrection, PureNoiseFallsToTheFloor) {
  constexpr double kNoise = 0.5;
  const Vectors noise = gaussian_gradients(kSteps, kParameters, kNoise);
  const auto constant = [](std::size_t) { return kNoise; };
  const std::vector<double> plain = last_moments(false, noise, constant);
  const std::vector<double> corrected = last_moments(true, noise, constant);
  EXPECT_NEAR(mean(plain), kNoise * kNoise, 0.01 * kNoise * kNoise);
  EXPECT_LT(*std::ranges::max_element(corrected), 0.2 * kNoise * kNoise);
  EXPECT_LT(mean(corrected), 0.02 * kNoise * kNoise);
  EXPECT_NEAR(*std::ranges::min_element(corrected), 1e-8, 1e-12);
  const auto on_floor = std::ranges::count_if(corrected, [](double moment) { return moment < 1.0001e-8; });
  EXPECT_NEAR(static_cast<double>(on_floor), kParameters / 2.0, kParameters / 8.0);
}

TEST(NoiseCorrection, LeavesTheSignal) {
  constexpr double kNoise = 0.5, kSignal = 0.4;
  const Vectors gradients = gaussian_gradients(kSteps, kParameters, kNoise, kSignal);
  const std::vector<double> corrected = last_moments(true, gradients, [](std::size_t) { return kNoise; });
  EXPECT_NEAR(mean(corrected), kSignal * kSignal, 0.03 * kSignal * kSignal);
}

// Under a schedule it is the average of the variances that is in the moment, not the last of them.
TEST(NoiseCorrection, FollowsANoiseSchedule) {
  const auto schedule = [](std::size_t t) { return std::exp(-static_cast<double>(t) / 1000); };
  constexpr double kSignal = 0.2;
  Vectors gradients = gaussian_gradients(kSteps, kParameters);
  for (std::size_t t = 1; t <= kSteps; ++t) {
    for (double& g : gradients[t - 1]) g = kSignal + schedule(t) * g;
  }
  EXPECT_NEAR(mean(last_moments(true, gradients, schedule)), kSignal * kSignal, 0.02 * kSignal * kSignal);
  EXPECT_GT(mean(last_moments(false, gradients, schedule)), 1.05 * kSignal * kSignal);
}

TEST(NoiseCorrection, WithoutNoiseItIsAdamToTheLastBit) {
  Vectors gradients = gaussian_gradients(50, 4);
  for (auto& gradient : gradients) gradient[0] *= 1e-9, gradient[1] = 0;  // below the floor, too
  for (const StepKind kind : kAdamFamily) {
    const StepOptions plain{.kind = kind, .weight_decay = 0.01};
    StepOptions corrected = plain;
    corrected.noise_correction = true;
    const std::vector<double> start = {0, 1, 2, 3};
    EXPECT_EQ(run(corrected, gradients, start, 0.1), run(plain, gradients, start, 0.1));
    EXPECT_NE(run(corrected, gradients, start, 0.1, 0.5), run(plain, gradients, start, 0.1, 0.5));
  }
}

// The first step by hand: g = 3, noise 2 leaves 9 - 4; g = 1 leaves the floor.
TEST(NoiseCorrection, FirstStepByHand) {
  for (const StepKind kind : {StepKind::adam, StepKind::adamw}) {
    const Vectors iterates =
        run({.kind = kind, .stability = 1e-4, .noise_correction = true}, Vectors{{3, 1}}, {0, 0}, 0.1, 2);
    EXPECT_NEAR(iterates[0][0], -0.1 * 3 / (std::sqrt(5.0) + 1e-4), 1e-12);
    EXPECT_NEAR(iterates[0][1], -0.1 / (0.01 + 1e-4), 1e-9);
  }
}

}  // namespace
}  // namespace ration::testing
