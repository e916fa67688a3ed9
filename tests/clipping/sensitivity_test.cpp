#include "ration/clipping/sensitivity.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "ration/base/error.h"

namespace ration::testing {
namespace {

constexpr Relation kAddRemove = Relation::add_remove;
constexpr Relation kReplaceOne = Relation::replace_one;

TEST(Sensitivity, FiguresOfTheTable) {
  EXPECT_EQ(gradient_sum_sensitivity(3, kAddRemove), 3);
  EXPECT_EQ(gradient_sum_sensitivity(3, kReplaceOne), 6);
  EXPECT_EQ(loss_sum_sensitivity(3, kAddRemove), 3);
  EXPECT_EQ(loss_sum_sensitivity(3, kReplaceOne), 3);
  EXPECT_EQ(loss_difference_sensitivity(3, kAddRemove), 3);
  EXPECT_EQ(loss_difference_sensitivity(3, kReplaceOne), 6);
  EXPECT_EQ(squared_norm_sensitivity(3, 10, kAddRemove), 19 * 9);
  EXPECT_EQ(squared_norm_sensitivity(3, 10, kReplaceOne), 37 * 9);
  EXPECT_EQ(squared_norm_sensitivity(3, 1, kReplaceOne), 9);
  EXPECT_EQ(second_moment_sensitivity(3, kAddRemove), 9);
  EXPECT_DOUBLE_EQ(second_moment_sensitivity(3, kReplaceOne), 9 * std::sqrt(2));
  EXPECT_EQ(count_sensitivity(kAddRemove), 1);
  EXPECT_EQ(count_sensitivity(kReplaceOne), 1);
  EXPECT_EQ(histogram_sensitivity_l1(kAddRemove), 1);
  EXPECT_EQ(histogram_sensitivity_l1(kReplaceOne), 2);
  EXPECT_EQ(histogram_sensitivity_l2(kAddRemove), 1);
  EXPECT_DOUBLE_EQ(histogram_sensitivity_l2(kReplaceOne), std::sqrt(2));
}

TEST(Sensitivity, LayersAddInSquares) {
  EXPECT_DOUBLE_EQ(joint_bound(std::array{3.0, 4.0}), 5);
  const double even = 2 / std::sqrt(7.0);
  EXPECT_DOUBLE_EQ(joint_bound(std::array{even, even, even, even, even, even, even}), 2);
}

TEST(Sensitivity, RefusesWhatBoundsNothing) {
  for (const double bound : {0.0, -1.0, HUGE_VAL, std::nan("")}) {
    EXPECT_THROW(gradient_sum_sensitivity(bound, kAddRemove), InputError);
    EXPECT_THROW(loss_sum_sensitivity(bound, kAddRemove), InputError);
    EXPECT_THROW(loss_difference_sensitivity(bound, kAddRemove), InputError);
    EXPECT_THROW(squared_norm_sensitivity(bound, 1, kAddRemove), InputError);
    EXPECT_THROW(second_moment_sensitivity(bound, kAddRemove), InputError);
    EXPECT_THROW(joint_bound(std::array{1.0, bound}), InputError);
  }
  EXPECT_THROW(squared_norm_sensitivity(1, 0, kAddRemove), InputError);
}

}  // namespace
}  // namespace ration::testing
