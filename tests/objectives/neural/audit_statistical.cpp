// A network's training step, told apart on two neighbouring tables as well as anyone could: all rows but one
// pull nothing, that one at full length in a known direction. What is proven about epsilon, with 99.9 %
// confidence, stays below the claim, and would not if the noise were half as large.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "objectives/neural/nets.h"
#include "oracle/epsilon_audit.h"
#include "ration/objectives/neural/layers.h"
#include "ration/objectives/neural/models.h"
#include "ration/oracle/oracle.h"
#include "ration/privacy/accountant.h"
#include "ration/sampling/poisson.h"
#include "support/doubles.h"
#include "support/recording.h"

namespace ration::nn {
namespace {

using torch::nn::LinearOptions;
using Vector = std::vector<double>;

constexpr double kDelta = 1e-3;
constexpr double kFailure = 1e-3;
constexpr int kRuns = 30'000;  // on each table
constexpr double kRate = 0.5;
constexpr std::size_t kOthers = 6;

Network without_biases() {
  return torch::nn::Sequential(Linear(LinearOptions(3, 4).bias(false)), torch::nn::Functional(torch::tanh),
                               Linear(LinearOptions(4, 2).bias(false)));
}

// Zeros leave every unit at zero, and so every gradient.
std::shared_ptr<const Rows> table(bool with_the_row) {
  Vector features(3 * kOthers, 0.0), labels(kOthers, 0.0);
  if (with_the_row) {
    features.insert(features.end(), {1, -2, 1});
    labels.push_back(1);
  }
  return std::make_shared<const Rows>(Rows::dense(3, std::move(features), std::move(labels)));
}

struct Attacked {
  std::unique_ptr<Objective> objective;
  Vector w;
};

Attacked attacked(bool with_the_row) {
  Network net = without_biases();
  ration::testing::SeededRandom random(5);
  initialise(*net.module, random);
  Vector w = trained_parameters(*net.module);
  return {make_neural(net, table(with_the_row), {.input = {3}, .classes = 2, .threads = 1}), std::move(w)};
}

// Where the row pulls to.
Vector pull_of_the_row(const AnyClipRule& clip) {
  const Attacked with = attacked(true);
  Vector pull(with.w.size());
  with.objective->clipped_gradient_sum(with.w, all_rows(kOthers + 1), clip, pull);
  return pull;
}

Vector likelihoods(bool with_the_row, const GradientQuery& query, const Vector& pull, double noise) {
  const Attacked one = attacked(with_the_row);
  const PoissonSampler sampler({.rows = one.objective->rows(), .declared_rows = double{kOthers}}, kRate);
  ration::testing::GenerousFilter filter;
  ration::testing::SeededRandom random(with_the_row ? 31 : 32);
  PrivateOracle oracle(*one.objective, sampler, filter, random);
  Vector values, mean(pull.size());
  for (int i = 0; i < kRuns; ++i) {
    EXPECT_TRUE(oracle.gradient(one.w, query, mean));
    const double along =
        std::inner_product(mean.begin(), mean.end(), pull.begin(), 0.0) * kRate * double{kOthers};
    values.push_back(std::log(1 - kRate + kRate * std::exp((along - 0.5) / (noise * noise))));
  }
  return values;
}

TEST(NetworkAudit, OneSampledGradient) {
  constexpr double kNoise = 0.8;
  const GradientQuery query{.clip = AutoV{1}, .noise_multiplier = kNoise};
  const Vector pull = pull_of_the_row(query.clip);
  ASSERT_NEAR(length(pull), 1, 1e-4);  // as strong an attack as the rule allows
  const double proven =
      ration::testing::EpsilonAudit(kDelta, kFailure)
          .lower_bound(likelihoods(true, query, pull, kNoise), likelihoods(false, query, pull, kNoise));
  const auto claim = [](double noise) {
    return account(Event::poisson_sampled(kRate, Event::gaussian(noise)), Relation::add_remove,
                   Accountant::pld, kDelta)
        .epsilon;
  };
  EXPECT_LE(proven, claim(kNoise));
  EXPECT_GT(proven, claim(2 * kNoise));
}

}  // namespace
}  // namespace ration::nn
