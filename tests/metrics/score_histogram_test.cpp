#include "metrics/score_histogram.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "metrics/classification.h"
#include "metrics/ranking.h"

namespace ration::testing {
namespace {

using Vector = std::vector<double>;
constexpr std::size_t kBins = ScoreHistogram::kBins;

struct Scored {
  Vector scores, labels;
};

Vector counts_of(const Scored& rows) {
  Vector counts(ScoreHistogram::kCells);
  for (std::size_t i = 0; i < rows.labels.size(); ++i)
    counts[ScoreHistogram::cell_of(rows.scores[i], rows.labels[i])] += 1;
  return counts;
}

// Scores of every size, 0 and none among them.
Scored draw() {
  const auto rows = *rc::gen::inRange<std::size_t>(2, 80);
  Scored drawn;
  for (std::size_t i = 0; i < rows; ++i) {
    drawn.scores.push_back(0.2 * *rc::gen::inRange(-30, 31));
    drawn.labels.push_back(i < 2 ? static_cast<double>(i) : *rc::gen::inRange(0, 2));
  }
  if (*rc::gen::inRange(0, 3) == 0) drawn.scores.back() = std::nan("");
  return drawn;
}

// A row's probability, if every one is taken for the middle of its bin.
double middle_of(double score) {
  const double p = 1 / (1 + std::exp(-score));
  for (std::size_t bin = 0; bin < kBins; ++bin) {
    if (p <= ScoreHistogram::to(bin)) return (ScoreHistogram::from(bin) + ScoreHistogram::to(bin)) / 2;
  }
  return std::nan("");
}

void expect_near(double a, double b) {
  RC_ASSERT(std::abs(a - b) < 1e-12);
}

TEST(ScoreHistogram, BinsFollowEachOtherFromZeroToOne) {
  EXPECT_EQ(ScoreHistogram::from(0), 0);
  EXPECT_EQ(ScoreHistogram::to(kBins - 1), 1);
  for (std::size_t bin = 0; bin < kBins; ++bin) {
    EXPECT_LT(ScoreHistogram::from(bin), ScoreHistogram::to(bin));
    if (bin > 0) EXPECT_EQ(ScoreHistogram::from(bin), ScoreHistogram::to(bin - 1));
    EXPECT_NEAR(ScoreHistogram::from(bin), 1 - ScoreHistogram::to(kBins - 1 - bin), 1e-15);
  }
}

TEST(ScoreHistogram, EveryRowHasOneCell) {
  EXPECT_EQ(ScoreHistogram::cell_of(0, 0), kBins / 2 - 1);  // class 0 is told of z = 0
  EXPECT_EQ(ScoreHistogram::cell_of(1e-300, 1), kBins + kBins / 2);
  EXPECT_EQ(ScoreHistogram::cell_of(-1e308, 0), 0u);
  EXPECT_EQ(ScoreHistogram::cell_of(std::numeric_limits<double>::infinity(), 1), 2 * kBins - 1);
  for (const double bad : {std::nan(""), 2.0, -1.0, 0.5})
    EXPECT_EQ(ScoreHistogram::cell_of(1, bad), ScoreHistogram::kCells - 1);
  EXPECT_EQ(ScoreHistogram::cell_of(std::nan(""), 1), ScoreHistogram::kCells - 1);
  for (double z = -8; z <= 8; z += 0.01) {
    const std::size_t bin = ScoreHistogram::cell_of(z, 0);
    const double p = 1 / (1 + std::exp(-z));
    EXPECT_GE(p, ScoreHistogram::from(bin) - 1e-12) << z;
    EXPECT_LE(p, ScoreHistogram::to(bin) + 1e-12) << z;
  }
}

// Without noise: what the rows say by the textbook, each score taken for the middle of its bin.
TEST(ScoreFigures, AreThoseOfTheRowsToThePrecisionOfTheBins) {
  EXPECT_TRUE(rc::check([] {
    const Scored rows = draw();
    const ScoreFigures found = figures_of(counts_of(rows), 0, true);
    Vector p, labels, said;
    double right = 0;
    double log_loss = 0;
    for (std::size_t i = 0; i < rows.labels.size(); ++i) {
      right += (rows.scores[i] > 0 ? 1 : 0) == rows.labels[i] && !std::isnan(rows.scores[i]) ? 1 : 0;
      if (std::isnan(rows.scores[i])) continue;
      const double middle = middle_of(rows.scores[i]);
      p.insert(p.end(), {1 - middle, middle});
      said.push_back(middle);
      labels.push_back(rows.labels[i]);
      log_loss -= std::log(rows.labels[i] == 1 ? middle : 1 - middle);
    }
    expect_near(found.rows, static_cast<double>(rows.labels.size()));
    expect_near(found.accuracy->value, right / static_cast<double>(rows.labels.size()));
    expect_near(found.log_loss->value, log_loss / static_cast<double>(labels.size()));
    expect_near(found.brier->value, brier_score(p, labels, 2));
    const auto area = area_under_roc(said, labels, 1);
    RC_ASSERT(found.auc.has_value() == area.has_value());
    if (area) expect_near(found.auc->value, *area);
    RC_ASSERT(found.accuracy->error == 0);
  }));
}

TEST(ScoreFigures, TheAreaLiesWithinWhatTiesLeaveOpen) {
  EXPECT_TRUE(rc::check([] {
    Scored rows = draw();
    if (std::isnan(rows.scores.back())) rows.scores.back() = 0;
    const ScoreFigures found = figures_of(counts_of(rows), 0, true);
    const auto exact = area_under_roc(rows.scores, rows.labels, 1);
    RC_ASSERT(std::abs(found.auc->value - *exact) <= found.auc_within + 1e-12);
  }));
}

// The other class by the mirrored score: the same model, told the other way round.
TEST(ScoreFigures, OfTheMirrorAreTheSame) {
  EXPECT_TRUE(rc::check([] {
    const Scored rows = draw();
    Scored mirror = rows;
    for (double& score : mirror.scores) score = score == 0 ? 0.1 : -score;
    for (double& label : mirror.labels) label = 1 - label;
    Scored turned = rows;
    for (double& score : turned.scores) score = score == 0 ? -0.1 : score;
    const ScoreFigures one = figures_of(counts_of(turned), 1, true);
    const ScoreFigures other = figures_of(counts_of(mirror), 1, true);
    expect_near(one.accuracy->value, other.accuracy->value);
    expect_near(one.brier->value, other.brier->value);
    expect_near(one.log_loss->value, other.log_loss->value);
    RC_ASSERT(one.auc.has_value() == other.auc.has_value());
    if (one.auc) expect_near(one.auc->value, other.auc->value);
    expect_near(one.accuracy->error, other.accuracy->error);
  }));
}

TEST(ScoreFigures, WithoutProbabilitiesHaveNoneOfThem) {
  const ScoreFigures found = figures_of(counts_of({{1, -1}, {1, 0}}), 1, false);
  EXPECT_TRUE(found.auc);
  EXPECT_FALSE(found.log_loss);
  EXPECT_FALSE(found.brier);
}

TEST(ScoreFigures, OfNothingButNoiseAreNothing) {
  const Vector below(ScoreHistogram::kCells, -3);
  const ScoreFigures found = figures_of(below, 5, true);
  EXPECT_EQ(found.rows, 0);
  EXPECT_FALSE(found.accuracy);
  EXPECT_FALSE(found.balanced_accuracy);
  EXPECT_FALSE(found.auc);
  EXPECT_FALSE(found.log_loss);
  EXPECT_TRUE(at_thresholds(below, 5).empty());
  EXPECT_TRUE(calibrated_bins(below, 5).empty());
}

// Stated errors are those that noise has: 4,000 draws of normal noise, whose deviations are known to 2 %.
TEST(ScoreFigures, ErrorsAreTheDeviationsUnderNoise) {
  std::mt19937_64 random(7);
  Vector counts(ScoreHistogram::kCells);
  for (std::size_t bin = 0; bin < kBins; ++bin) {
    counts[bin] = 200.0 * static_cast<double>(kBins - bin);
    counts[kBins + bin] = 30.0 * static_cast<double>(bin + 1);
  }
  constexpr double kStddev = 10;
  const ScoreFigures stated = figures_of(counts, kStddev, true);
  const double stated_recall = at_thresholds(counts, kStddev)[8].recall.error;
  const double stated_bin = calibrated_bins(counts, kStddev)[9].was.error;
  std::vector<Vector> seen(7);
  std::normal_distribution<double> noise(0, kStddev);
  for (int i = 0; i < 4000; ++i) {
    Vector moved = counts;
    for (double& count : moved) count += noise(random);
    const ScoreFigures found = figures_of(moved, kStddev, true);
    const auto& all = {found.accuracy, found.balanced_accuracy, found.auc, found.log_loss, found.brier};
    std::size_t which = 0;
    for (const auto& figure : all) seen[which++].push_back(figure->value);
    seen[5].push_back(at_thresholds(moved, kStddev)[8].recall.value);
    seen[6].push_back(calibrated_bins(moved, kStddev)[9].was.value);
  }
  const double errors[] = {stated.accuracy->error,
                           stated.balanced_accuracy->error,
                           stated.auc->error,
                           stated.log_loss->error,
                           stated.brier->error,
                           stated_recall,
                           stated_bin};
  for (std::size_t which = 0; which < 7; ++which) {
    double mean = 0, squares = 0;
    for (const double value : seen[which]) mean += value / 4000;
    for (const double value : seen[which]) squares += (value - mean) * (value - mean) / 3999;
    EXPECT_NEAR(std::sqrt(squares) / errors[which], 1, 0.08) << which;
  }
}

TEST(AtThresholds, AreRecallAndFalsePositives) {
  const Scored rows{{-5, -0.1, 0.1, 3, -3, 0.2}, {0, 0, 0, 1, 1, 1}};
  const auto all = at_thresholds(counts_of(rows), 0);
  ASSERT_EQ(all.size(), kBins - 1);
  EXPECT_EQ(all[8].threshold, 0.5);
  EXPECT_DOUBLE_EQ(all[8].recall.value, 2.0 / 3);
  EXPECT_DOUBLE_EQ(all[8].false_positives.value, 1.0 / 3);
  for (std::size_t i = 1; i < all.size(); ++i) {
    EXPECT_LE(all[i].recall.value, all[i - 1].recall.value);
    EXPECT_LE(all[i].false_positives.value, all[i - 1].false_positives.value);
  }
}

TEST(CalibratedBins, TellHowOftenClassOneIsThere) {
  const auto bins = calibrated_bins(counts_of({{0.1, 0.1, 0.1, 0.1, -5}, {0, 1, 1, 1, 0}}), 0);
  ASSERT_EQ(bins.size(), 2u);
  EXPECT_EQ(bins[0].was.value, 0);
  EXPECT_EQ(bins[1].from, 0.5);
  EXPECT_EQ(bins[1].to, 0.6);
  EXPECT_EQ(bins[1].rows, 4);
  EXPECT_EQ(bins[1].was.value, 0.75);
}

}  // namespace
}  // namespace ration::testing
