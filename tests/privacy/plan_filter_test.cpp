#include <gtest/gtest.h>

#include "ration/base/error.h"
#include "ration/privacy/filter.h"

namespace ration {
namespace {

Event step(double noise) {
  return Event::poisson_sampled(0.1, Event::gaussian(noise));
}

// Two steps with noise 1, one with noise 2.
std::unique_ptr<BudgetFilter> small_plan() {
  return make_plan_filter(Event::composed({step(1), step(2), step(1)}), Accountant::rdp,
                          {.epsilon = 50, .delta = 1e-6}, Relation::add_remove);
}

TEST(PlanFilter, GrantsWhatIsPlannedAsOftenAsPlannedInAnyOrder) {
  const auto filter = small_plan();
  EXPECT_TRUE(filter->spend(step(1)));
  EXPECT_TRUE(filter->spend(step(2)));
  EXPECT_TRUE(filter->spend(step(1)));
  EXPECT_EQ(filter->spent_share(), 1);
  EXPECT_FALSE(filter->spend(step(1)));
  EXPECT_FALSE(filter->spend(step(2)));
}

TEST(PlanFilter, CountsTheSameObjectAskedAgain) {
  const auto filter = small_plan();
  const Event asked = step(1);
  EXPECT_TRUE(filter->spend(asked));
  EXPECT_TRUE(filter->spend(asked));
  EXPECT_FALSE(filter->spend(asked));
}

TEST(PlanFilter, ARepetitionIsTakenAndGivenBackAsAWhole) {
  const auto filter = small_plan();
  EXPECT_FALSE(filter->spend(Event::composed({Event::repeated(step(1), 2), step(3)})));
  EXPECT_EQ(filter->spent_share(), 0);
  EXPECT_TRUE(filter->spend(Event::repeated(step(1), 2)));
  EXPECT_FALSE(filter->spend(step(1)));
}

TEST(PlanFilter, RefusesWhatWasNotPlanned) {
  const auto filter = small_plan();
  EXPECT_FALSE(filter->fits(step(3)));
  EXPECT_FALSE(filter->spend(step(3)));
  EXPECT_FALSE(filter->spend(Event::gaussian(1)));
  EXPECT_EQ(filter->spent_share(), 0);
}

// What came before the refused part is given back, the same event in two places too.
TEST(PlanFilter, ARefusedCompositionChangesNothing) {
  const auto filter = small_plan();
  EXPECT_FALSE(filter->spend(Event::composed({step(1), step(2), step(1), step(1)})));
  EXPECT_EQ(filter->spent_share(), 0);
  EXPECT_FALSE(filter->spend(Event::composed({step(1), step(3)})));
  EXPECT_FALSE(filter->spend(Event::repeated(step(1), 3)));
  EXPECT_EQ(filter->spent_share(), 0);
  EXPECT_TRUE(filter->spend(Event::composed({step(1), step(2), step(1)})));
  EXPECT_EQ(filter->spent_share(), 1);
}

TEST(PlanFilter, FitsSaysWhatSpendWouldAndSpendsNothing) {
  const auto filter = small_plan();
  EXPECT_TRUE(filter->fits(Event::repeated(step(1), 2)));
  EXPECT_FALSE(filter->fits(Event::repeated(step(1), 3)));
  EXPECT_EQ(filter->spent_share(), 0);
  EXPECT_EQ(filter->spent_epsilon(), 0);
}

TEST(PlanFilter, APlanAboveTheBudgetIsRefused) {
  EXPECT_THROW(make_plan_filter(Event::repeated(step(1), 1000), Accountant::rdp,
                                {.epsilon = 1, .delta = 1e-6}, Relation::add_remove),
               InputError);
}

}  // namespace
}  // namespace ration
