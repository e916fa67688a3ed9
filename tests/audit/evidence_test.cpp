#include "audit/evidence.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "privacy/gdp.h"

namespace ration::audit {
namespace {

constexpr double kDelta = 1e-5;

// Two normal distributions, mu apart.
Played normals(double mu, int trials, unsigned seed) {
  std::mt19937_64 engine(seed);
  std::normal_distribution<double> normal;
  Played played;
  for (int i = 0; i < trials; ++i) {
    played.with.push_back(normal(engine) + mu);
    played.without.push_back(normal(engine));
  }
  return played;
}

Played turned_round(const Played& played) {
  return {played.without, played.with};
}

// Of 200 audits at failure 0.1 each, 40 or more would be above the truth with probability below 1e-5 if the
// bounds kept their promise just so (binomial).
TEST(Evidence, IsAboveTheTruthNoOftenerThanPromised) {
  constexpr double kMu = 1;
  int above_epsilon = 0;
  int above_mu = 0;
  for (unsigned seed = 0; seed < 200; ++seed) {
    const Evidence evidence = weigh(normals(kMu, 1000, seed), kDelta, 0.1);
    above_epsilon += evidence.epsilon > gdp_epsilon(kMu, kDelta) ? 1 : 0;
    above_mu += evidence.mu > kMu ? 1 : 0;
  }
  EXPECT_LT(above_epsilon, 40);
  EXPECT_LT(above_mu, 40);
}

// Runs of which the half that chooses gives the row away and the half that judges knows nothing of it.
TEST(Evidence, IsWhatTheJudgingRunsShow) {
  Played played{std::vector<double>(2000, 0.0), std::vector<double>(2000, 0.0)};
  std::fill(played.with.begin(), played.with.begin() + 1000, 1.0);
  const Evidence lucky = weigh(played, kDelta, 0.1);
  EXPECT_EQ(lucky.epsilon, 0);
  EXPECT_EQ(lucky.mu, 0);
  std::fill(played.with.begin(), played.with.end(), 1.0);
  EXPECT_GT(weigh(played, kDelta, 0.1).epsilon, 3);
}

// Of epsilon 4.4 at delta 1e-5, 10,000 judging runs of each world can show less than half: at the cut 3, with
// 13.5 false alarms and 228 catches expected, Clopper-Pearson at 0.005 each leaves .0196/.0025, or 2.0; and
// the cut is chosen by the other half, which may take one that is a deviation or two worse.
TEST(Evidence, ComesCloseToTheTruth) {
  const Evidence evidence = weigh(normals(1, 20'000, 1), kDelta, 0.01);
  EXPECT_GT(evidence.mu, 0.85);
  EXPECT_GT(evidence.epsilon, 1.2);
  ASSERT_FALSE(evidence.roc.empty());
  EXPECT_GT(evidence.roc.front().alarms, evidence.roc.back().alarms);
}

TEST(Evidence, OfTheSameDistributionIsNone) {
  const Evidence evidence = weigh(normals(0, 2000, 3), kDelta, 0.001);
  EXPECT_EQ(evidence.epsilon, 0);
  EXPECT_LT(evidence.mu, 0.1);
  EXPECT_EQ(weigh({{1, 2}, {1, 2}}, kDelta, 0.05).epsilon, 0);  // too few
}

TEST(Evidence, AScoreThatSaysTheOppositeIsUsedAllTheSame) {
  const Played right = normals(2, 4000, 4);
  const Played ranked = ranked_by_histogram(turned_round(right));
  EXPECT_GT(weigh(ranked, kDelta, 0.01).epsilon, 1);
}

// Indices: the row makes 1 likelier and 0 and 2 rarer.
TEST(Histogram, RanksOutputsByTheirLikelihood) {
  Played outputs;
  for (int i = 0; i < 4000; ++i) {
    outputs.with.push_back(i % 10 == 0 ? 0 : i % 10 == 1 ? 2 : 1);
    outputs.without.push_back(i % 10 < 4 ? 0 : i % 10 < 8 ? 2 : 1);
  }
  const Played ranked = ranked_by_histogram(outputs);
  EXPECT_EQ(ranked.with.size(), 3000u);
  const double epsilon = weigh(ranked, 0, 0.01).epsilon;
  EXPECT_LT(epsilon, std::log(4.0));
  EXPECT_GT(epsilon, std::log(4.0) - 0.35);
  EXPECT_EQ(weigh(outputs, 0, 0.01).epsilon > epsilon, false);
}

TEST(Histogram, OfContinuousOutputsLosesLittle) {
  const Played ranked = ranked_by_histogram(normals(1, 40'000, 5));
  const double epsilon = weigh(ranked, kDelta, 0.01).epsilon;
  EXPECT_LT(epsilon, gdp_epsilon(1, kDelta));
  EXPECT_GT(epsilon, 1.8);
}

}  // namespace
}  // namespace ration::audit
