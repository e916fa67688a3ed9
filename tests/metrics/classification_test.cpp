#include "metrics/classification.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>

namespace ration::testing {
namespace {

using ::testing::ElementsAre;
using Vector = std::vector<double>;

struct Drawn {
  std::size_t classes;
  Vector outputs, labels, said;
};

// Outputs of random size, one per row for two classes, and what they say.
Drawn draw() {
  Drawn drawn;
  drawn.classes = *rc::gen::inRange<std::size_t>(2, 5);
  const auto rows = *rc::gen::inRange<std::size_t>(1, 50);
  const std::size_t per_row = drawn.classes == 2 ? 1 : drawn.classes;
  for (std::size_t i = 0; i < rows * per_row; ++i) drawn.outputs.push_back(0.3 * *rc::gen::inRange(-30, 30));
  for (std::size_t i = 0; i < rows; ++i) {
    drawn.labels.push_back(static_cast<double>(*rc::gen::inRange<std::size_t>(0, drawn.classes)));
    drawn.said.push_back(static_cast<double>(*rc::gen::inRange<std::size_t>(0, drawn.classes)));
  }
  return drawn;
}

Vector probabilities_of(const Drawn& drawn) {
  return class_probabilities(drawn.outputs, drawn.classes == 2 ? 1 : drawn.classes, drawn.classes);
}

void expect_near(double a, double b) {
  RC_ASSERT(std::abs(a - b) < 1e-12);
}

TEST(Confusion, CountsEveryRowWhereItBelongs) {
  const auto counts = confusion_matrix(Vector{0, 1, 1, 2, 0}, Vector{0, 0, 1, 1, 0}, 3);
  EXPECT_THAT(counts, ElementsAre(2, 1, 0, 0, 1, 1, 0, 0, 0));
  EXPECT_THAT(recalls(counts, 3), ElementsAre(2.0 / 3, 0.5, std::nullopt));
  EXPECT_DOUBLE_EQ(balanced_accuracy(recalls(counts, 3)), (2.0 / 3 + 0.5) / 2);
}

TEST(Confusion, TheAccuracyIsTheMeanRecallByClassSize) {
  EXPECT_TRUE(rc::check([] {
    const Drawn drawn = draw();
    const auto counts = confusion_matrix(drawn.said, drawn.labels, drawn.classes);
    double right = 0;
    for (std::size_t i = 0; i < drawn.labels.size(); ++i) right += drawn.said[i] == drawn.labels[i] ? 1 : 0;
    double by_recall = 0;
    for (std::size_t k = 0; k < drawn.classes; ++k) {
      double rows = 0;
      for (const double label : drawn.labels) rows += label == static_cast<double>(k) ? 1 : 0;
      by_recall += rows * recalls(counts, drawn.classes)[k].value_or(0);
    }
    expect_near(by_recall, right);
  }));
}

TEST(ClassProbabilities, AreThoseOfTheTextbook) {
  EXPECT_TRUE(rc::check([] {
    const Drawn drawn = draw();
    const Vector p = probabilities_of(drawn);
    for (std::size_t row = 0; row < drawn.labels.size(); ++row) {
      double sum = 0;
      double all = 0;
      for (std::size_t k = 0; k < drawn.classes; ++k) {
        const double z =
            drawn.classes == 2 ? (k == 1 ? drawn.outputs[row] : 0) : drawn.outputs[row * drawn.classes + k];
        all += std::exp(z);
        sum += p[row * drawn.classes + k];
      }
      expect_near(sum, 1);
      const double z = drawn.classes == 2 ? 0 : drawn.outputs[row * drawn.classes];
      expect_near(p[row * drawn.classes], std::exp(z) / all);
    }
  }));
}

TEST(ClassProbabilities, OfLargeOutputsAreNumbers) {
  EXPECT_THAT(class_probabilities(Vector{1000, -1000}, 1, 2), ElementsAre(0, 1, 1, 0));
  EXPECT_THAT(class_probabilities(Vector{1000, 0, -1000}, 3, 3), ElementsAre(1, 0, 0));
}

TEST(BrierScore, IsAsByHand) {
  EXPECT_DOUBLE_EQ(brier_score(Vector{0.75, 0.25, 0.5, 0.5}, Vector{0, 1}, 2), (0.0625 + 0.25) / 2);
  EXPECT_DOUBLE_EQ(brier_score(Vector{0.5, 0.25, 0.25}, Vector{1}, 3), 0.25 + 0.5625 + 0.0625);
}

// Of two classes the sum over both is twice the score; right and certain is 0, wrong and certain 1.
TEST(BrierScore, LiesBetweenTheTruthAndItsOpposite) {
  EXPECT_TRUE(rc::check([] {
    const Drawn drawn = draw();
    const double score = brier_score(probabilities_of(drawn), drawn.labels, drawn.classes);
    RC_ASSERT(score >= 0);
    RC_ASSERT(score <= (drawn.classes == 2 ? 1 : 2));
  }));
  EXPECT_EQ(brier_score(Vector{0, 1, 1, 0}, Vector{1, 0}, 2), 0);
  EXPECT_EQ(brier_score(Vector{0, 1, 1, 0}, Vector{0, 1}, 2), 1);
}

TEST(Calibration, IsAsByHand) {
  const Vector p = {0.9, 0.1, 0.86, 0.14, 0.5, 0.5, 0, 1, 0.02, 0.98};
  const auto bins = calibration(p, Vector{0, 1, 1, 1, 0}, 2);
  ASSERT_EQ(bins.size(), 3u);
  EXPECT_EQ(bins[0].from, 0.1);
  EXPECT_EQ(bins[0].to, 0.2);
  EXPECT_EQ(bins[0].rows, 2u);
  EXPECT_DOUBLE_EQ(bins[0].said, 0.12);
  EXPECT_DOUBLE_EQ(bins[0].was, 0.5);
  EXPECT_EQ(bins[1].from, 0.5);
  EXPECT_EQ(bins[2].to, 1);  // with its end
  EXPECT_EQ(bins[2].rows, 2u);
  EXPECT_DOUBLE_EQ(bins[2].said, 0.99);
  EXPECT_DOUBLE_EQ(bins[2].was, 0.5);
}

TEST(Calibration, OfSeveralClassesLooksAtTheLikeliest) {
  const auto bins = calibration(Vector{0.2, 0.7, 0.1, 0.75, 0.05, 0.2}, Vector{1, 2}, 3);
  ASSERT_EQ(bins.size(), 1u);
  EXPECT_DOUBLE_EQ(bins[0].said, 0.725);
  EXPECT_DOUBLE_EQ(bins[0].was, 0.5);
}

// Every row is in one bin, and what was said lies within it.
TEST(Calibration, CountsEveryRowOnce) {
  EXPECT_TRUE(rc::check([] {
    const Drawn drawn = draw();
    std::size_t rows = 0;
    for (const CalibrationBin& bin : calibration(probabilities_of(drawn), drawn.labels, drawn.classes)) {
      rows += bin.rows;
      RC_ASSERT(bin.said >= bin.from - 1e-12);
      RC_ASSERT(bin.said <= bin.to + 1e-12);
      RC_ASSERT(bin.was >= 0 && bin.was <= 1);
    }
    RC_ASSERT(rows == drawn.labels.size());
  }));
}

}  // namespace
}  // namespace ration::testing
