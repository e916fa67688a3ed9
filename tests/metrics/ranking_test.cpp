#include "metrics/ranking.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

namespace ration::testing {
namespace {

using Vector = std::vector<double>;

// The textbook: every pair is looked at.
std::optional<double> area_by_pairs(const Vector& scores, const Vector& labels, double positive) {
  double won = 0;
  double pairs = 0;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    for (std::size_t j = 0; j < scores.size(); ++j) {
      if (labels[i] != positive || labels[j] == positive) continue;
      pairs += 1;
      won += scores[i] > scores[j] ? 1 : scores[i] == scores[j] ? 0.5 : 0;
    }
  }
  return pairs > 0 ? std::optional(won / pairs) : std::nullopt;
}

struct Drawn {
  Vector scores;
  Vector labels;
};

// Few different scores, so that many tie.
Drawn draw(std::size_t classes) {
  const auto rows = *rc::gen::inRange<std::size_t>(0, 60);
  Drawn drawn{.scores = Vector(rows * (classes > 2 ? classes : 1)), .labels = Vector(rows)};
  for (double& score : drawn.scores) score = 0.25 * *rc::gen::inRange(-6, 7);
  for (double& label : drawn.labels) label = static_cast<double>(*rc::gen::inRange<std::size_t>(0, classes));
  return drawn;
}

void expect_near(std::optional<double> a, std::optional<double> b) {
  RC_ASSERT(a.has_value() == b.has_value());
  if (a) RC_ASSERT(std::abs(*a - *b) < 1e-12);
}

TEST(AreaUnderRoc, IsTheShareOfPairsInTheRightOrder) {
  EXPECT_TRUE(rc::check([] {
    const Drawn drawn = draw(2);
    for (const double positive : {0.0, 1.0}) {
      expect_near(area_under_roc(drawn.scores, drawn.labels, positive),
                  area_by_pairs(drawn.scores, drawn.labels, positive));
    }
  }));
}

TEST(AreaUnderRoc, OfReversedScoresOrOfTheOtherClassIsTheRest) {
  EXPECT_TRUE(rc::check([] {
    const Drawn drawn = draw(2);
    const auto area = area_under_roc(drawn.scores, drawn.labels, 1);
    Vector reversed = drawn.scores;
    for (double& score : reversed) score = -score;
    const auto rest = area ? std::optional(1 - *area) : std::nullopt;
    expect_near(area_under_roc(reversed, drawn.labels, 1), rest);
    expect_near(area_under_roc(drawn.scores, drawn.labels, 0), rest);
  }));
}

TEST(AreaUnderRoc, DependsOnTheOrderAlone) {
  EXPECT_TRUE(rc::check([] {
    const Drawn drawn = draw(2);
    Vector bent = drawn.scores;
    for (double& score : bent) score = std::exp(3 * score) - 7;
    expect_near(area_under_roc(bent, drawn.labels, 1), area_under_roc(drawn.scores, drawn.labels, 1));
  }));
}

TEST(AreaUnderRoc, OfKnownRanks) {
  EXPECT_EQ(area_under_roc(Vector{1, 2, 3, 4}, Vector{0, 0, 1, 1}, 1), 1);
  EXPECT_EQ(area_under_roc(Vector{1, 2, 3, 4}, Vector{0, 1, 0, 1}, 1), 0.75);
  EXPECT_EQ(area_under_roc(Vector{5, 5, 5}, Vector{0, 1, 0}, 1), 0.5);
  EXPECT_EQ(area_under_roc(Vector{1, 2}, Vector{1, 1}, 1), std::nullopt);
  EXPECT_EQ(area_under_roc(Vector{}, Vector{}, 1), std::nullopt);
}

TEST(AreaUnderRoc, WhatIsNoNumberLiesBelow) {
  const double nan = std::nan("");
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(area_under_roc(Vector{nan, -1e300, infinity}, Vector{0, 1, 1}, 1), 1);
  EXPECT_EQ(area_under_roc(Vector{nan, nan, 3}, Vector{1, 0, 0}, 1), 0.25);
}

TEST(MeanAreaUnderRoc, IsThatOfEachClassAgainstTheRest) {
  EXPECT_TRUE(rc::check([] {
    const Drawn drawn = draw(4);
    double sum = 0;
    double count = 0;
    for (std::size_t k = 0; k < 4; ++k) {
      Vector column;
      for (std::size_t row = 0; row < drawn.labels.size(); ++row) column.push_back(drawn.scores[4 * row + k]);
      const auto area = area_by_pairs(column, drawn.labels, static_cast<double>(k));
      sum += area.value_or(0);
      count += area.has_value() ? 1 : 0;
    }
    expect_near(mean_area_under_roc(drawn.scores, drawn.labels, 4),
                count > 0 ? std::optional(sum / count) : std::nullopt);
  }));
}

TEST(MeanAreaUnderRoc, OfTwoClassesIsThatOfTheirDifference) {
  const Vector outputs = {1, 2, 0, -1, 3, 3.5, 0, 0.25};
  const Vector labels = {1, 0, 0, 1};
  EXPECT_DOUBLE_EQ(*mean_area_under_roc(log_odds(outputs, 2), labels, 2),
                   *area_under_roc(Vector{1, -1, 0.5, 0.25}, labels, 1));
}

// The formula as it stands, with the digits of a long double.
TEST(LogOdds, AreThoseOfTheTextbook) {
  const Vector outputs = {0, 1, 2, -3, 5, 5, 7, 7, 7, 0.5, -20, 3};
  const Vector odds = log_odds(outputs, 3);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    long double others = 0;
    for (std::size_t j = i / 3 * 3; j < i / 3 * 3 + 3; ++j) {
      if (j != i) others += std::exp(static_cast<long double>(outputs[j]));
    }
    EXPECT_NEAR(odds[i], static_cast<double>(static_cast<long double>(outputs[i]) - std::log(others)), 1e-14)
        << i;
  }
}

// Where every probability would be rounded to 0 or 1.
TEST(LogOdds, KeepTheOrderOfLargeOutputs) {
  const Vector odds = log_odds(Vector{900, 0, 1, 901, 0, 1, -900, 0, 1}, 3);
  EXPECT_LT(odds[0], odds[3]);
  EXPECT_NEAR(odds[0], 900 - std::log(1 + std::exp(1)), 1e-10);
  EXPECT_NEAR(odds[6], -900 - std::log(1 + std::exp(1)), 1e-10);
}

}  // namespace
}  // namespace ration::testing
