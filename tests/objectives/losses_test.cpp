#include "objectives/glm/losses.h"

#include <gtest/gtest.h>

#include <array>
#include <limits>

namespace ration::testing {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(LogisticLoss, KeepsItsDigitsInBothTails) {
  EXPECT_DOUBLE_EQ(LogisticLoss::loss(0, 1), std::log(2));
  EXPECT_DOUBLE_EQ(LogisticLoss::loss(50, 1), std::exp(-50.0));
  EXPECT_DOUBLE_EQ(LogisticLoss::loss(-1e5, 1), 1e5);
  EXPECT_DOUBLE_EQ(LogisticLoss::loss(1e5, 0), 1e5);
  EXPECT_DOUBLE_EQ(LogisticLoss::slope(50, 1), -std::exp(-50.0));
  EXPECT_DOUBLE_EQ(LogisticLoss::slope(-50, 0), std::exp(-50.0));
  EXPECT_EQ(LogisticLoss::slope(1e5, 1), 0);
  EXPECT_EQ(LogisticLoss::slope(-1e5, 1), -1);
  EXPECT_EQ(LogisticLoss::slope(kInfinity, 0), 1);
}

TEST(Losses, SayWhenTheyAreNoNumber) {
  const double nan = std::nan("");
  for (const double label : {0.0, 1.0}) {
    EXPECT_TRUE(std::isnan(LogisticLoss::loss(nan, label)));
    EXPECT_TRUE(std::isnan(HingeLoss::loss(nan, label)));
    EXPECT_TRUE(std::isnan(HuberHingeLoss{}.loss(nan, label)));
    EXPECT_TRUE(std::isnan(SquaredLoss::loss(nan, label)));
    for (const std::array<double, 3>& z : {std::array{nan, 1.0, 2.0}, {1.0, nan, 2.0}, {1.0, 2.0, nan}}) {
      EXPECT_TRUE(std::isnan(SoftmaxLoss{3}.loss_at(z, label)));
    }
  }
}

TEST(HingeLoss, IsFlatFromTheKinkOn) {
  EXPECT_EQ(HingeLoss::loss(1, 1), 0);
  EXPECT_EQ(HingeLoss::slope(1, 1), 0);
  EXPECT_EQ(HingeLoss::slope(0.99, 1), -1);
  EXPECT_EQ(HingeLoss::slope(-0.99, 0), 1);
}

TEST(HuberHingeLoss, IsSmoothWhereThePiecesMeet) {
  const HuberHingeLoss huber;
  for (const double joint : {0.5, 1.5}) {
    EXPECT_NEAR(huber.loss(joint - 1e-9, 1), huber.loss(joint + 1e-9, 1), 3e-9);
    EXPECT_NEAR(huber.slope(joint - 1e-9, 1), huber.slope(joint + 1e-9, 1), 3e-9);
  }
  EXPECT_EQ(huber.loss(1, 1), 0.125);
  EXPECT_EQ(huber.slope(-5, 1), -1);
  EXPECT_EQ(huber.slope(5, 0), 1);
}

double softmax_loss(std::array<double, 3> z, double label) {
  return SoftmaxLoss{3}.loss_at(z, label);
}

TEST(SoftmaxLoss, KeepsItsDigitsInBothTails) {
  EXPECT_DOUBLE_EQ(softmax_loss({0, 0, 0}, 1), std::log(3));
  EXPECT_DOUBLE_EQ(softmax_loss({50, 0, 0}, 0), 2 * std::exp(-50.0));
  EXPECT_DOUBLE_EQ(softmax_loss({1e4, 0, 0}, 1), 1e4);
  EXPECT_DOUBLE_EQ(softmax_loss({1e4, 1e4, -1e4}, 1), std::log(2));
  std::array<double, 3> z = {50, 0, 0};
  EXPECT_DOUBLE_EQ(SoftmaxLoss{3}.to_slopes(z, 0), std::sqrt(6) * std::exp(-50.0));
  EXPECT_DOUBLE_EQ(z[0], -2 * std::exp(-50.0));
}

TEST(SoftmaxLoss, TwoClassesAreLogistic) {
  for (const double margin : {-30.0, -1.0, 0.0, 0.3, 20.0}) {
    std::array<double, 2> z = {0, margin};
    EXPECT_NEAR(SoftmaxLoss{2}.loss_at(z, 1), LogisticLoss::loss(margin, 1), 1e-14);
    SoftmaxLoss{2}.to_slopes(z, 1);
    EXPECT_NEAR(z[1], LogisticLoss::slope(margin, 1), 1e-15);
  }
}

TEST(SoftmaxLoss, SlopesWithTooFewDigitsHaveNoNorm) {
  std::array<double, 3> z = {400, 0, 0};
  EXPECT_EQ(SoftmaxLoss{3}.to_slopes(z, 0), 0);
}

}  // namespace
}  // namespace ration::testing
