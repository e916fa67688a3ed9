#include "oracle/row_count.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ration/base/error.h"
#include "support/doubles.h"

namespace ration::testing {
namespace {

const Budget kBudget{1, 1e-6};

TEST(NoisyRowCount, IsChargedAsOneGaussian) {
  SeededRandom random(1);
  const auto filter = make_gdp_filter(kBudget, Relation::add_remove);
  const auto same = make_gdp_filter(kBudget, Relation::add_remove);
  ASSERT_TRUE(noisy_row_count(1000, 20, *filter, random));
  ASSERT_TRUE(same->spend(Event::gaussian(20)));
  EXPECT_EQ(filter->spent_epsilon(), same->spent_epsilon());
}

TEST(NoisyRowCount, RefusedItDrawsNothing) {
  CountingRandom random(1);
  const auto filter = make_gdp_filter(kBudget, Relation::add_remove);
  EXPECT_FALSE(noisy_row_count(1000, 0.5, *filter, random));
  EXPECT_EQ(random.words_generated(), 0u);
  EXPECT_EQ(filter->spent_epsilon(), 0);
}

TEST(NoisyRowCount, IsAWholeNumberFromOneOn) {
  const auto filter = make_gdp_filter({1e6, 1e-6}, Relation::add_remove);
  SeededRandom random(1);
  bool at_the_edge = false;
  for (int i = 0; i < 100; ++i) {
    const double counted = noisy_row_count(2, 50, *filter, random).value();
    EXPECT_GE(counted, 1);
    EXPECT_EQ(counted, std::round(counted));
    at_the_edge = at_the_edge || counted == 1;
  }
  EXPECT_TRUE(at_the_edge);
}

TEST(NoisyRowCount, NoiseMustBePositive) {
  const auto filter = make_gdp_filter(kBudget, Relation::add_remove);
  SeededRandom random(1);
  EXPECT_THROW(noisy_row_count(10, 0, *filter, random), InputError);
}

}  // namespace
}  // namespace ration::testing
