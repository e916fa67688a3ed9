// The theorem of docs/proofs/objective-perturbation.md, checked by integration: in one dimension, with other
// rows that do nothing but move the minimum, the laws of the perturbed minimum with and without a row are
// known in closed form.
#include "mechanisms/objective_noise.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>

#include "base/numeric.h"
#include "privacy/gdp.h"
#include "ration/base/error.h"
#include "support/small_table.h"

namespace ration::testing {
namespace {

using ::testing::HasSubstr;

// What a row adds to the linear term at v, and its derivative: c(v) = slope((place - v) / regulariser).
struct Push {
  std::function<double(double)> value;
  std::function<double(double)> derivative;
};

Push no_push() {
  return {[](double) { return 0.0; }, [](double) { return 0.0; }};
}

// Of a row x = sign with label 0, so that its slope is in [0, 1].
Push logistic_push(double regulariser, double place) {
  const auto sigmoid = [=](double v) { return 1 / (1 + std::exp((v - place) / regulariser)); };
  return {sigmoid, [=](double v) { return -sigmoid(v) * (1 - sigmoid(v)) / regulariser; }};
}

Push huber_push(double regulariser, double place, double h) {
  const auto slope = [=](double v) {
    return std::clamp((1 + (place - v) / regulariser + h) / (2 * h), 0.0, 1.0);
  };
  return {slope, [=](double v) { return slope(v) > 0 && slope(v) < 1 ? -1 / (2 * h * regulariser) : 0.0; }};
}

Push mirrored(const Push& push) {
  return {[=](double v) { return -push.value(-v); }, [=](double v) { return push.derivative(-v); }};
}

double density(const Push& push, double stddev, double v) {
  return normal_pdf((v - push.value(v)) / stddev) / stddev * (1 - push.derivative(v));
}

// delta(epsilon) of the first law against the second.
double delta_between(const Push& a, const Push& b, double stddev, double epsilon) {
  const double reach = 12 * stddev + 3;
  const double step = std::min(0.002 * stddev, 0.01);
  double sum = 0;
  for (double v = -reach; v <= reach; v += step) {
    sum += step * std::max(0.0, density(a, stddev, v) - std::exp(epsilon) * density(b, stddev, v));
  }
  return sum;
}

struct Law {
  double smoothness;
  std::function<Push(double regulariser, double place)> push;
};

std::vector<Law> laws() {
  return {{0.25, logistic_push},
          {1.0, [](double regulariser, double place) { return huber_push(regulariser, place, 0.5); }},
          {5.0, [](double regulariser, double place) { return huber_push(regulariser, place, 0.1); }}};
}

// The largest delta / claimed delta over tables, directions and epsilons.
double tightness(Relation relation, double noise_multiplier, double claimed_mu) {
  double tightest = 0;
  for (const Law& law : laws()) {
    for (const double share : {0.02, 0.3, 0.9}) {
      ObjectiveNoiseOptions options{
          .smoothness = law.smoothness, .noise_multiplier = noise_multiplier, .relation = relation};
      options.regulariser = ObjectiveNoise::regulariser_for(options, share);
      const double stddev = ObjectiveNoise(options).linear_stddev();
      for (const double place : {-1.0, 0.0, 0.4, 1e3}) {
        const Push with = law.push(options.regulariser, place * stddev);
        const Push without = relation == Relation::add_remove
                                 ? no_push()
                                 : mirrored(law.push(options.regulariser, place * stddev));
        for (const double epsilon : {0.0, 0.2, 1.0, 2.0}) {
          const double claimed = gdp_delta(claimed_mu, epsilon);
          tightest = std::max(tightest, delta_between(with, without, stddev, epsilon) / claimed);
          tightest = std::max(tightest, delta_between(without, with, stddev, epsilon) / claimed);
        }
      }
    }
  }
  return tightest;
}

// The minimum has all but 1 % of 1 / noise_multiplier^2.
double mu_of_the_minimum(double noise_multiplier) {
  return std::sqrt(0.99) / noise_multiplier;
}

TEST(ObjectiveNoise, NoTableIsAboveTheTheoremsCurve) {
  for (const double noise_multiplier : {0.7, 2.0}) {
    const double mu = mu_of_the_minimum(noise_multiplier);
    for (const Relation relation : {Relation::add_remove, Relation::replace_one}) {
      EXPECT_LE(tightness(relation, noise_multiplier, mu), 1 + 1e-6);
      EXPECT_GT(tightness(relation, noise_multiplier, 0.97 * mu), 1);
    }
  }
}

// Without the determinant's share, the noise would be too small: the theorem's second term is not for show.
TEST(ObjectiveNoise, TheDeterminantHasToBePaidFor) {
  const double regulariser = 0.25, stddev = 2;
  const Push with = huber_push(regulariser, -regulariser, 0.1);  // the kink where the noise is likeliest
  double worst = 0;
  for (const double epsilon : {0.2, 1.0}) {
    worst = std::max(worst, delta_between(with, no_push(), stddev, epsilon) / gdp_delta(1 / stddev, epsilon));
  }
  EXPECT_GT(worst, 1.5);
}

TEST(ObjectiveNoise, IsTheFormula) {
  const ObjectiveNoiseOptions options{
      .lipschitz = 3, .smoothness = 0.25, .regulariser = 45, .noise_multiplier = 20};
  const double cost = std::sqrt(std::numbers::pi / 2) * std::log(1 + 0.25 / 45);
  EXPECT_NEAR(ObjectiveNoise(options).linear_stddev(), 3 / (std::sqrt(0.99) / 20 - cost), 1e-8);
  EXPECT_NEAR(ObjectiveNoise(options).output_noise_multiplier(), 200, 1e-8);
  EXPECT_EQ(ObjectiveNoise(options).event().describe(), Event::gaussian(20).describe());
  ObjectiveNoiseOptions replaced = options;
  replaced.relation = Relation::replace_one;
  EXPECT_NEAR(ObjectiveNoise(replaced).linear_stddev(), 3 / (std::sqrt(0.99) / 40 - cost), 1e-8);
}

TEST(ObjectiveNoise, NeedsALargeEnoughRegulariser) {
  ObjectiveNoiseOptions options{.smoothness = 0.25, .regulariser = 1, .noise_multiplier = 50};
  const double least = ObjectiveNoise::regulariser_for(options, 1);
  EXPECT_THAT(refusal([&] { ObjectiveNoise{options}; }), HasSubstr("expected regulariser > "));
  EXPECT_THAT(refusal([&] { ObjectiveNoise{options}; }), HasSubstr("got regulariser=1; take a larger ridge"));
  options.regulariser = least * 0.999;
  EXPECT_NE(refusal([&] { ObjectiveNoise{options}; }), "");
  options.regulariser = least * 1.001;
  EXPECT_EQ(refusal([&] { ObjectiveNoise{options}; }), "");
  // With half for the determinant, the noise is twice what it would be for an immense regulariser.
  options.regulariser = ObjectiveNoise::regulariser_for(options, 0.5);
  EXPECT_NEAR(ObjectiveNoise(options).linear_stddev(), 2 * 50 / std::sqrt(0.99), 1e-6);
}

TEST(ObjectiveNoise, RefusesOptionsWithoutMeaning) {
  EXPECT_THAT(refusal([] { ObjectiveNoise({.lipschitz = 0}); }), HasSubstr("lipschitz"));
  EXPECT_THAT(refusal([] { ObjectiveNoise({.smoothness = 0}); }), HasSubstr("smoothness"));
  EXPECT_THAT(refusal([] { ObjectiveNoise({.regulariser = 0}); }), HasSubstr("regulariser"));
  EXPECT_THAT(refusal([] { ObjectiveNoise({.noise_multiplier = 0}); }), HasSubstr("noise_multiplier"));
}

}  // namespace
}  // namespace ration::testing
