#include "ration/mechanisms/above_threshold.h"

#include <gtest/gtest.h>

#include <cmath>
#include <type_traits>
#include <vector>

#include "mechanisms/search_law.h"
#include "methods/search_noise.h"
#include "privacy/zcdp.h"
#include "ration/privacy/accountant.h"
#include "support/doubles.h"

namespace ration {
namespace {

using testing::first_above_law;
using testing::input_error_of;
using testing::Law;
using testing::noise_of;
using testing::SeededRandom;

static_assert(!std::is_copy_constructible_v<AboveThreshold> && !std::is_move_constructible_v<AboveThreshold>);

constexpr double kFar = 1e6;  // noise never bridges this

TEST(AboveThreshold, EndsAtTheFirstYes) {
  SeededRandom random(1);
  AboveThreshold search({.threshold = 10.0}, random);
  EXPECT_FALSE(search.above(-kFar));
  EXPECT_FALSE(search.finished());
  EXPECT_TRUE(search.above(kFar));
  EXPECT_TRUE(search.finished());
  EXPECT_EQ(input_error_of([&] { search.above(kFar); }),
            "AboveThreshold: the search is finished; begin a new one to ask another query");
}

TEST(AboveThreshold, EndsAfterTheLastAllowedQuery) {
  SeededRandom random(1);
  AboveThreshold search({.max_queries = 2}, random);
  EXPECT_FALSE(search.above(-kFar));
  EXPECT_FALSE(search.above(-kFar));
  EXPECT_TRUE(search.finished());
  EXPECT_EQ(input_error_of([&] { search.above(-kFar); }),
            "AboveThreshold: the search is finished; begin a new one to ask another query");
}

TEST(AboveThreshold, AQueryThatIsNotFiniteIsNeverAbove) {
  SeededRandom random(1);
  AboveThreshold search({.threshold = -kFar}, random);
  EXPECT_FALSE(search.above(std::nan("")));
  EXPECT_FALSE(search.above(INFINITY));
  EXPECT_FALSE(search.above(-INFINITY));
  EXPECT_TRUE(search.above(0.0));
}

TEST(AboveThreshold, BudgetsAreSplitAsPublished) {
  const auto laplace = LaplaceSearch::with_epsilon(2.0);
  EXPECT_EQ(laplace.threshold_epsilon, 1.0);
  EXPECT_EQ(laplace.query_epsilon, 0.5);
  const auto gaussian = gaussian_search_of(0.5, 20);
  EXPECT_DOUBLE_EQ(gaussian.query_noise, std::sqrt(2) * gaussian.threshold_noise);
}

// Who asks for rho gets it, for any number of queries, and not much less.
TEST(AboveThreshold, GaussianNoiseCostsTheRhoItWasMadeFor) {
  SeededRandom random(1);
  for (const double rho : {1e-20, 1e-12, 1e-6, 1e-3, 0.5, 100.0}) {
    double noise = 0;
    for (const std::int64_t queries : {1, 6, 20, 10'000}) {
      const auto search = gaussian_search_of(rho, queries);
      const AboveThreshold mechanism({.max_queries = queries, .noise = search}, random);
      const double cost = account(mechanism.event(), Relation::add_remove, Accountant::zcdp, 1e-6).epsilon;
      EXPECT_LE(cost, zcdp_epsilon(rho, 1e-6) * (1 + 1e-9)) << rho << ' ' << queries;
      EXPECT_GE(cost, 0.99 * zcdp_epsilon(0.99 * rho, 1e-6)) << rho << ' ' << queries;
      EXPECT_GE(search.query_noise, noise);  // more queries take more noise
      noise = search.query_noise;
    }
  }
}

TEST(AboveThreshold, EventCarriesTheNoiseAndTheQueriesThatMayBeAsked) {
  SeededRandom random(1);
  AboveThreshold search(
      {.sensitivity = 3.0, .noise = LaplaceSearch{.threshold_epsilon = 0.7, .query_epsilon = 0.2}}, random);
  const std::string before = search.event().describe();
  const auto laplace = std::get<Event::AboveThresholdLaplace>(search.event().node());
  EXPECT_EQ(laplace.threshold_epsilon, 0.7);
  EXPECT_EQ(laplace.query_epsilon, 0.2);
  search.above(-kFar);
  search.above(kFar);
  EXPECT_EQ(search.event().describe(), before);

  const AboveThreshold other(
      {.max_queries = 7, .noise = GaussianSearch{.threshold_noise = 4.0, .query_noise = 5.0}}, random);
  const auto gaussian = std::get<Event::AboveThresholdGaussian>(other.event().node());
  EXPECT_EQ(gaussian.threshold_noise, 4.0);
  EXPECT_EQ(gaussian.query_noise, 5.0);
  EXPECT_EQ(gaussian.queries, 7);
}

// Neighbours on which every query but the last moves one way and the last the other: the worst pattern.
struct Neighbours {
  std::vector<double> queries;
  std::vector<double> shifted;
};

Neighbours worst_neighbours(double sensitivity, std::size_t count, double level) {
  std::vector<double> queries(count, level);
  std::vector<double> shifted(count, level + sensitivity);
  shifted.back() = level - sensitivity;
  return {queries, shifted};
}

TEST(AboveThreshold, LaplaceFormIsPureDp) {
  const AboveThresholdOptions options{.sensitivity = 2.0, .noise = LaplaceSearch::with_epsilon(1.0)};
  double largest = 0.0;
  for (const double level : {-30.0, -15.0, 0.0}) {
    const auto [queries, shifted] = worst_neighbours(options.sensitivity, 100, level);
    const Law p = first_above_law(queries, 0.0, noise_of(options));
    const Law q = first_above_law(shifted, 0.0, noise_of(options));
    largest = std::max(largest, testing::loss_range(p, q).largest());
  }
  EXPECT_LE(largest, 1.0 + 1e-3);
  EXPECT_GE(largest, 0.8);  // and there is little to spare
}

TEST(AboveThreshold, GaussianFormIsConcentratedDp) {
  const double rho = 0.5;
  const AboveThresholdOptions options{.sensitivity = 2.0, .noise = gaussian_search_of(rho, 100)};
  double largest = 0.0;
  for (const double level : {-30.0, -20.0, -10.0, 0.0}) {
    const auto [queries, shifted] = worst_neighbours(options.sensitivity, 100, level);
    const Law p = first_above_law(queries, 0.0, noise_of(options));
    const Law q = first_above_law(shifted, 0.0, noise_of(options));
    for (const double order : {1.0, 2.0, 8.0, 32.0}) {
      largest = std::max({largest, testing::renyi_divergence(p, q, order) / order,
                          testing::renyi_divergence(q, p, order) / order});
    }
  }
  EXPECT_LE(largest, rho);
  EXPECT_GE(largest, 0.3 * rho);
}

TEST(AboveThreshold, RefusesBadOptions) {
  SeededRandom random(1);
  const auto error = [&](const AboveThresholdOptions& options) {
    return input_error_of([&] { AboveThreshold(options, random); });
  };
  EXPECT_EQ(error({.sensitivity = 0.0}), "AboveThreshold: expected sensitivity > 0, got sensitivity=0");
  EXPECT_EQ(error({.max_queries = 0}), "AboveThreshold: expected max_queries >= 1, got max_queries=0");
  EXPECT_EQ(error({.noise = GaussianSearch{.threshold_noise = 1.0, .query_noise = -1.0}}),
            "AboveThreshold: expected query_noise > 0, got query_noise=-1");
  EXPECT_EQ(input_error_of([] { LaplaceSearch::with_epsilon(0.0); }),
            "AboveThreshold: expected epsilon > 0, got epsilon=0");
}

}  // namespace
}  // namespace ration
