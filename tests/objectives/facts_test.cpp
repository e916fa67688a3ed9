// What a loss says about itself in public is true, and no looser than it must be.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "objectives/glm/losses.h"
#include "objectives/tables.h"
#include "ration/base/error.h"
#include "support/small_table.h"

namespace ration::testing {
namespace {

using ::testing::HasSubstr;
using Vector = std::vector<double>;

template <class Loss>
Vector slopes(const Loss& loss, Vector z, double label) {
  loss.to_slopes(z, label);
  return z;
}

double length(const Vector& a, const Vector& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return std::sqrt(sum);
}

template <class Loss>
void expect_true_bounds(const Loss& loss, std::size_t classes) {
  std::mt19937_64 random(3);
  double steepest = 0, most_curved = 0;
  for (int i = 0; i < 20'000; ++i) {
    const Vector z = random_weights(loss.outputs(), i % 2 == 0 ? 1 : 20, random);
    Vector near = z;
    for (double& value : near) value += 1e-4 * std::normal_distribution<double>()(random);
    const auto label = static_cast<double>(random() % classes);
    const Vector here = slopes(loss, z, label), there = slopes(loss, near, label);
    steepest = std::max(steepest, length(here, Vector(z.size(), 0.0)));
    most_curved = std::max(most_curved, length(here, there) / length(z, near));
    if (Loss::kOneSided) {
      EXPECT_GE(here[0] * (label == 0 ? 1 : -1), 0);
    }
  }
  EXPECT_LE(steepest, loss.slope_bound() * (1 + 1e-9));
  EXPECT_LE(most_curved, loss.curvature_bound() * (1 + 1e-6));
  EXPECT_GT(steepest, 0.99 * loss.slope_bound());
  EXPECT_GT(most_curved, 0.95 * loss.curvature_bound());
}

TEST(LossFacts, AreTrueAndTight) {
  expect_true_bounds(LogisticLoss{}, 2);
  for (const double h : {0.1, 0.5, 2.0}) {
    HuberHingeLoss huber;
    huber.h = h;
    expect_true_bounds(huber, 2);
  }
  expect_true_bounds(SoftmaxLoss{.classes = 2}, 2);
  expect_true_bounds(SoftmaxLoss{.classes = 3}, 3);
}

TEST(LossFacts, SayWhatIsUnbounded) {
  EXPECT_TRUE(std::isinf(HingeLoss::curvature_bound()));
  EXPECT_TRUE(std::isinf(SquaredLoss::slope_bound()));
}

TEST(PublicFacts, AreThoseOfLossAndRows) {
  const auto rows = store(Storage::dense, 1, {5, 0.1}, {0, 1});
  EXPECT_TRUE(std::isinf(glm(GlmLoss::logistic, rows)->facts().row_norm_bound));
  const auto bounded = std::make_shared<const Rows>(rows->with_row_norms_at_most(2));
  const PublicFacts facts = glm(GlmLoss::huber, bounded)->facts();
  EXPECT_EQ(facts.loss, "huber");
  EXPECT_EQ(facts.row_norm_bound, 2);
  EXPECT_EQ(facts.slope_bound, 1);
  EXPECT_EQ(facts.curvature_bound, 1);
  EXPECT_TRUE(facts.one_sided);
  EXPECT_EQ(facts.label_classes, 2u);
  EXPECT_EQ(glm(GlmLoss::softmax, bounded)->facts().label_classes, kClasses);
  EXPECT_FALSE(glm(GlmLoss::softmax, bounded)->facts().one_sided);
  EXPECT_EQ(glm(GlmLoss::squared, bounded)->facts().label_classes, 0u);
  for (const GlmLoss loss : kAllLosses) EXPECT_EQ(glm(loss, bounded)->facts().loss, to_string(loss));
}

TEST(RowBound, StaysWithTheRows) {
  const Rows rows = Rows::dense(1, {5, 0.1}, {0, 1});
  EXPECT_TRUE(std::isinf(rows.norm_bound()));
  EXPECT_EQ(rows.with_row_norms_at_most(2).norm_bound(), 2);
  EXPECT_EQ(rows.with_row_norms_at_most(2).with_row_norms_at_most(3).norm_bound(), 2);
  EXPECT_EQ(rows.with_row_norms_at_most(3).with_row_norms_at_most(2).norm_bound(), 2);
  EXPECT_EQ(rows.with_row_norms_at_most(2).with_labels({1, 1}).norm_bound(), 2);
}

TEST(LabelCounts, AreExactOverTheBatch) {
  const auto objective = glm(GlmLoss::softmax, store(Storage::dense, 1, Vector(6, 1.0), {0, 2, 2, 1, 2, 0}));
  Vector counts(kClasses, 7.0);
  objective->label_counts(all(6), counts);
  EXPECT_EQ(counts, (Vector{2, 1, 3}));
  objective->label_counts({.rows = {1, 5}}, counts);
  EXPECT_EQ(counts, (Vector{1, 0, 1}));
  Vector wrong(2);
  EXPECT_NE(refusal([&] { objective->label_counts(all(6), wrong); }), "");
  EXPECT_NE(refusal([&] { objective->label_counts({.rows = {6}}, counts); }), "");
  const auto numbers = glm(GlmLoss::squared, store(Storage::dense, 1, {1}, {0.5}));
  EXPECT_THAT(refusal([&] { numbers->label_counts(all(1), wrong); }), HasSubstr("'squared' are no classes"));
}

}  // namespace
}  // namespace ration::testing
