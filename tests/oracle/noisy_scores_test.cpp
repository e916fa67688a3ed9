#include "oracle/noisy_scores.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "ration/base/error.h"
#include "ration/clipping/sensitivity.h"
#include "support/doubles.h"
#include "support/small_table.h"

namespace ration::testing {
namespace {

struct Scored {
  double score;
  double label;
};

std::vector<double> histogram(const std::vector<Scored>& rows) {
  std::vector<double> scores, labels;
  for (const Scored& row : rows) {
    scores.push_back(row.score);
    labels.push_back(row.label);
  }
  return count_scores(scores, labels);
}

double l1_distance(const std::vector<double>& a, const std::vector<double>& b) {
  double distance = 0;
  for (std::size_t i = 0; i < a.size(); ++i) distance += std::abs(a[i] - b[i]);
  return distance;
}

// A row for every cell, and the odd ones.
std::vector<Scored> every_kind() {
  std::vector<Scored> rows = {{std::nan(""), 0},
                              {std::nan(""), 1},
                              {1, std::nan("")},
                              {INFINITY, 0},
                              {-INFINITY, 1},
                              {-0.0, 0},
                              {1e300, 1},
                              {2, 7},
                              {0, 1}};
  for (double z = -6; z <= 6; z += 0.5) {
    rows.push_back({z, 0});
    rows.push_back({z, 1});
  }
  return rows;
}

TEST(NoisyScores, NeighboursMoveTheHistogramByTheSensitivityAndNoMore) {
  const std::vector<Scored> kinds = every_kind();
  double most_added = 0;
  double most_replaced = 0;
  for (const Scored& row : kinds) {
    std::vector<Scored> more = kinds;
    more.push_back(row);
    most_added = std::max(most_added, l1_distance(histogram(kinds), histogram(more)));
    for (std::size_t i = 0; i < kinds.size(); ++i) {
      std::vector<Scored> changed = kinds;
      changed[i] = row;
      most_replaced = std::max(most_replaced, l1_distance(histogram(kinds), histogram(changed)));
    }
  }
  EXPECT_EQ(most_added, histogram_sensitivity_l1(Relation::add_remove));
  EXPECT_EQ(most_replaced, histogram_sensitivity_l1(Relation::replace_one));
}

TEST(NoisyScores, CountsEveryRowOnce) {
  double rows = 0;
  for (const double count : histogram(every_kind())) rows += count;
  EXPECT_EQ(rows, static_cast<double>(every_kind().size()));
  EXPECT_EQ(histogram({{3, 1}})[ScoreHistogram::cell_of(3, 1)], 1);
}

TEST(NoisyScores, WithLittleNoiseTheyAreTheCounts) {
  SeededRandom random(1);
  const std::vector<double> scores = {2, -1, 0.3, -4}, labels = {1, 0, 0, 1};
  const auto released = NoisyScoresQuery({.epsilon = 1000}).release(scores, labels, random);
  const auto exact = count_scores(scores, labels);
  for (std::size_t i = 0; i < exact.size(); ++i) EXPECT_NEAR(released[i], exact[i], 0.05);
}

TEST(NoisyScores, TheirEventCostsNoMoreThanEpsilon) {
  for (const double epsilon : {1e-6, 0.1, 1.0 / 3, 49.0, 1000.0}) {
    for (const Relation relation : {Relation::add_remove, Relation::replace_one}) {
      const NoisyScoresQuery query({.epsilon = epsilon, .relation = relation});
      const double scale = std::get<Event::Laplace>(query.event().node()).scale;
      EXPECT_LE(std::fma(-scale, epsilon, 1.0), 0) << epsilon;  // 1 <= scale * epsilon, exactly
      EXPECT_NEAR(scale * epsilon, 1, 1e-15);
      const double excess = query.noise_scale() * epsilon / histogram_sensitivity_l1(relation);
      EXPECT_GE(excess, 1);
      EXPECT_LE(excess, 1.02);
    }
  }
}

TEST(NoisyScores, WrongInputIsRefused) {
  EXPECT_THAT(refusal([] { NoisyScoresQuery query({.epsilon = 0}); }),
              ::testing::HasSubstr("NoisyScores: expected 1e-06 <= epsilon <= 1000"));
  SeededRandom random(3);
  const std::vector<double> one = {1}, two = {1, 0};
  EXPECT_THAT(refusal([&] { NoisyScoresQuery({}).release(one, two, random); }),
              ::testing::HasSubstr("got 1 and 2"));
}

}  // namespace
}  // namespace ration::testing
