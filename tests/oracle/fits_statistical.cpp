// The noise of a released fit is what its sensitivity asks for, and neighbours cannot be told apart better
// than claimed.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>

#include "base/distributions.h"
#include "objectives/tables.h"
#include "oracle/epsilon_audit.h"
#include "ration/oracle/oracle.h"
#include "ration/privacy/accountant.h"
#include "ration/sampling/full.h"
#include "support/doubles.h"
#include "support/recording.h"
#include "support/statistics.h"

namespace ration::testing {
namespace {

using Vector = std::vector<double>;

// Rows of zeros, and one more of length 1 with label 1 or 0 if asked for.
enum class Last { none, one, zero };
std::unique_ptr<Objective> table(Last last, std::size_t silent = 5) {
  Vector features(silent, 0.0), labels(silent, 0.0);
  if (last != Last::none) {
    features.push_back(1);
    labels.push_back(last == Last::one ? 1 : 0);
  }
  const auto rows = store(Storage::dense, 1, features, labels);
  return glm(GlmLoss::huber, std::make_shared<const Rows>(rows->with_row_norms_at_most(1)));
}

// One weight per run.
using Release = std::function<double(PrivateOracle&)>;
Vector releases(Last last, Relation relation, const Release& release, int runs, std::uint64_t seed) {
  const auto objective = table(last);
  const double declared = relation == Relation::add_remove ? 5 : static_cast<double>(objective->rows());
  const FullSampler sampler({.rows = objective->rows(), .declared_rows = declared}, relation);
  GenerousFilter filter;
  SeededRandom random(seed);
  PrivateOracle oracle(*objective, sampler, filter, random);
  Vector values;
  for (int i = 0; i < runs; ++i) values.push_back(release(oracle));
  return values;
}

void expect_scale(const Vector& noise, double stddev) {
  EXPECT_TRUE(follows_normal(noise, stddev));
  EXPECT_FALSE(follows_normal(noise, stddev * 2 / 3));
  EXPECT_FALSE(follows_normal(noise, stddev * 3 / 2));
}

constexpr int kDraws = 20'000;
const DescentFit kDescent{.steps = 4, .step_size = 0.1};

Release output_release(const OutputQuery& query) {
  return [=](PrivateOracle& oracle) {
    double w = 0;
    EXPECT_TRUE(oracle.perturbed_fit(query, std::span(&w, 1)));
    return w;
  };
}
Release objective_release(const ObjectiveQuery& query) {
  return [=](PrivateOracle& oracle) {
    double w = 0;
    EXPECT_TRUE(oracle.perturbed_objective(query, std::span(&w, 1)));
    return w;
  };
}

// Each fails by chance with probability 1e-9.
TEST(FitNoise, OfOutputPerturbation) {
  const OutputQuery query{.fit = kDescent, .ridge = 0, .noise_multiplier = 2};
  expect_scale(releases(Last::none, Relation::add_remove, output_release(query), kDraws, 1), 2 * 0.4 / 5);
  Vector moved = releases(Last::one, Relation::replace_one, output_release(query), kDraws, 2);
  for (double& w : moved) w -= 0.4 / 6;
  expect_scale(moved, 2 * 2 * 0.4 / 6);
}

// Where rows do nothing the minimum is -b / regulariser; the rest of the noise is far smaller.
TEST(FitNoise, OfObjectivePerturbation) {
  const ObjectiveQuery query{.ridge = 2, .noise_multiplier = 2};
  const double cost = std::sqrt(std::numbers::pi / 2) * std::log(1 + 1 / 10.0);
  const double mu = std::sqrt(0.99) / 2;
  expect_scale(releases(Last::none, Relation::add_remove, objective_release(query), kDraws, 3),
               1 / (mu - cost) / 10);
  const ObjectiveQuery wide{.ridge = 20, .noise_multiplier = 2};
  const double small_cost = std::sqrt(std::numbers::pi / 2) * std::log(1 + 1 / 100.0);
  expect_scale(releases(Last::none, Relation::replace_one, objective_release(wide), kDraws, 4),
               1 / (mu / 2 - small_cost) / 100);
}

// The rows' bound counts: twice the bound is twice the slope and four times the curvature.
TEST(FitNoise, OfLongerRows) {
  const OutputQuery output{.fit = kDescent, .ridge = 0, .row_norm = 2, .noise_multiplier = 2};
  expect_scale(releases(Last::none, Relation::add_remove, output_release(output), kDraws, 6),
               2 * 2 * 0.4 / 5);
  const ObjectiveQuery query{.ridge = 4, .row_norm = 2, .noise_multiplier = 2};
  const double cost = std::sqrt(std::numbers::pi / 2) * std::log(1 + 4 / 20.0);
  expect_scale(releases(Last::none, Relation::add_remove, objective_release(query), kDraws, 7),
               2 / (std::sqrt(0.99) / 2 - cost) / 20);
}

// What hides the distance to the minimum: the rest, once the minimum -b / regulariser is taken away. A
// gradient of up to 1e-4 is tolerated, so two points differ by up to 2e-4 / regulariser, and the noise is ten
// times the multiplier of that.
TEST(FitNoise, OfTheDistanceToTheMinimum) {
  const auto objective = table(Last::none);
  const FullSampler sampler({.rows = 5, .declared_rows = 5}, Relation::add_remove);
  GenerousFilter filter;
  const ObjectiveQuery query{.ridge = 2, .noise_multiplier = 2};
  const double cost = std::sqrt(std::numbers::pi / 2) * std::log(1 + 1 / 10.0);
  const double linear_stddev = 1 / (std::sqrt(0.99) / 2 - cost);
  Vector rest;
  for (std::uint64_t seed = 0; seed < 5000; ++seed) {
    SeededRandom random(seed), same(seed);
    PrivateOracle oracle(*objective, sampler, filter, random);
    double linear = 0;
    fill_gaussian(same, std::span(&linear, 1), linear_stddev);
    rest.push_back(objective_release(query)(oracle) + linear / 10);
  }
  expect_scale(rest, 10 * 2 * 2e-4 / 10);
}

TEST(FitNoise, OfLabelCounts) {
  for (const Relation relation : {Relation::add_remove, Relation::replace_one}) {
    const Release zeros = [](PrivateOracle& oracle) {
      Vector counts(2);
      EXPECT_TRUE(oracle.label_counts({.noise_multiplier = 3}, counts));
      return counts[0] - 5;
    };
    expect_scale(releases(Last::none, relation, zeros, kDraws, 5),
                 relation == Relation::add_remove ? 3 : 3 * std::numbers::sqrt2);
  }
}

// --- audits: neighbours as different as they can be, 99.9 % confidence

constexpr double kDelta = 1e-3;
constexpr int kRuns = 200'000;

double claim(double noise, Relation relation) {
  return account(Event::gaussian(noise), relation, Accountant::gdp, kDelta).epsilon;
}

void expect_claim_holds_and_half_the_noise_is_found_out(const Release& release, double noise, Last other,
                                                        Relation relation) {
  const Vector with = releases(Last::one, relation, release, kRuns, 21);
  const Vector without = releases(other, relation, release, kRuns, 22);
  const double proven = EpsilonAudit(kDelta, 1e-3).lower_bound(with, without);
  EXPECT_LE(proven, claim(noise, relation));
  EXPECT_GT(proven, claim(2 * noise, relation));
  EXPECT_GT(proven, 0.6 * claim(noise, relation));
}

TEST(FitAudit, OutputPerturbation) {
  const OutputQuery query{.fit = kDescent, .ridge = 0.1, .noise_multiplier = 1};
  expect_claim_holds_and_half_the_noise_is_found_out(output_release(query), 1, Last::none,
                                                     Relation::add_remove);
  expect_claim_holds_and_half_the_noise_is_found_out(output_release(query), 1, Last::zero,
                                                     Relation::replace_one);
}

TEST(FitAudit, PassesOverRows) {
  for (const auto result : {PassesFit::Result::last, PassesFit::Result::pass_averages}) {
    const OutputQuery query{.fit = PassesFit{.passes = 2, .batch = 2, .step_size = 0.1, .result = result},
                            .ridge = 0.1,
                            .noise_multiplier = 1};
    expect_claim_holds_and_half_the_noise_is_found_out(output_release(query), 1, Last::zero,
                                                       Relation::replace_one);
  }
}

TEST(FitAudit, ObjectivePerturbation) {
  const ObjectiveQuery query{.ridge = 10, .noise_multiplier = 1};
  expect_claim_holds_and_half_the_noise_is_found_out(objective_release(query), 1, Last::none,
                                                     Relation::add_remove);
  expect_claim_holds_and_half_the_noise_is_found_out(objective_release(query), 1, Last::zero,
                                                     Relation::replace_one);
}

}  // namespace
}  // namespace ration::testing
