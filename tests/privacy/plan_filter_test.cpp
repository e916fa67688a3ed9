#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "privacy/plans.h"
#include "ration/base/error.h"
#include "ration/privacy/filter.h"

namespace ration {
namespace {

using testing::complaint;
using testing::for_random_cases;
using ::testing::HasSubstr;
using testing::log_uniform;
using testing::poisson_gaussian;

constexpr double kDelta = 1e-6;
constexpr Relation kRelation = Relation::add_remove;

Event step(double noise) {
  return Event::poisson_sampled(0.05, Event::gaussian(noise));
}
Event small_plan() {
  return Event::composed({Event::repeated(step(1), 3), Event::gaussian(20), Event::repeated(step(2), 2)});
}
double cost(const Event& event, Accountant accountant = Accountant::pld) {
  return account(event, kRelation, accountant, kDelta).epsilon;
}
std::unique_ptr<BudgetFilter> filter_of(const Event& plan, Accountant accountant = Accountant::pld) {
  return make_plan_filter(plan, accountant, {cost(plan, accountant), kDelta}, kRelation);
}

TEST(PlanFilter, GrantsExactlyThePlanInAnyOrder) {
  std::vector<double> noises = {1, 1, 1, 2, 2};
  do {
    const auto fresh = filter_of(small_plan(), Accountant::rdp);
    ASSERT_TRUE(fresh->spend(Event::gaussian(20)));
    for (const double noise : noises) ASSERT_TRUE(fresh->spend(step(noise)));
    EXPECT_EQ(fresh->spent_share(), 1);
    for (const Event& more : {step(1), step(2), Event::gaussian(20)}) {
      EXPECT_FALSE(fresh->fits(more));
      EXPECT_FALSE(fresh->spend(more));
    }
  } while (std::next_permutation(noises.begin(), noises.end()));
}

TEST(PlanFilter, RefusesWhatThePlanDoesNotList) {
  const auto filter = filter_of(small_plan());
  for (const Event& other :
       {Event::gaussian(1), Event::gaussian(1e6), step(3), Event::poisson_sampled(0.04, Event::gaussian(1)),
        step(std::nextafter(1.0, 2.0)), Event::fixed_size_sampled(0.05, Event::gaussian(1)),
        Event::poisson_sampled(0.05, Event::repeated(Event::gaussian(1), 1)),
        Event::poisson_sampled(0.05, Event::composed({Event::gaussian(1)})), Event::pure_dp(0)}) {
    EXPECT_FALSE(filter->fits(other)) << other.describe();
    EXPECT_FALSE(filter->spend(other)) << other.describe();
  }
  EXPECT_EQ(filter->spent_share(), 0);
  EXPECT_EQ(filter->spent_epsilon(), 0);
}

// One object or equal ones: what counts is what the event says.
TEST(PlanFilter, CountsEqualEventsTogether) {
  const auto filter = filter_of(Event::repeated(step(1), 4));
  const Event same = step(1);
  EXPECT_TRUE(filter->spend(same));
  EXPECT_TRUE(filter->spend(step(1)));
  EXPECT_TRUE(filter->spend(same));
  EXPECT_TRUE(filter->spend(step(1)));
  EXPECT_FALSE(filter->spend(same));
  EXPECT_FALSE(filter->spend(step(1)));
}

TEST(PlanFilter, ARepetitionCountsAsOften) {
  const auto filter = filter_of(Event::repeated(step(1), 10));
  EXPECT_TRUE(filter->spend(Event::repeated(step(1), 7)));
  EXPECT_NEAR(filter->spent_share(), 0.7, 1e-15);
  EXPECT_FALSE(filter->fits(Event::repeated(step(1), 4)));
  EXPECT_FALSE(filter->spend(Event::repeated(step(1), 4)));
  EXPECT_TRUE(filter->spend(Event::repeated(step(1), 0)));
  EXPECT_FALSE(filter->spend(Event::repeated(step(1), std::int64_t{1} << 62)));
  EXPECT_TRUE(filter->spend(Event::repeated(step(1), 3)));
  EXPECT_FALSE(filter->spend(step(1)));
  EXPECT_TRUE(filter->spend(Event::nothing()));
}

// The object that was asked for last is recognised by its place: a repetition of it must not pass for it.
TEST(PlanFilter, AKnownEventInsideARepetitionStillCounts) {
  const auto filter = filter_of(Event::repeated(step(1), 5));
  const Event same = step(1);
  EXPECT_TRUE(filter->spend(same));
  EXPECT_TRUE(filter->spend(Event::repeated(same, 3)));
  EXPECT_TRUE(filter->spend(same));
  EXPECT_FALSE(filter->spend(same));
  EXPECT_EQ(filter->spent_share(), 1);
}

TEST(PlanFilter, APartlyRefusedCompositionChangesNothing) {
  const auto filter = filter_of(small_plan());
  ASSERT_TRUE(filter->spend(step(1)));
  const double epsilon = filter->spent_epsilon(), share = filter->spent_share();
  for (const Event& too_much :
       {Event::composed({step(1), step(2), Event::gaussian(20), step(1), step(1)}),
        Event::composed({step(2), Event::gaussian(7)}), Event::composed({Event::gaussian(7), step(2)}),
        Event::composed({Event::repeated(step(2), 2), step(2)})}) {
    EXPECT_FALSE(filter->fits(too_much));
    EXPECT_FALSE(filter->spend(too_much));
    EXPECT_EQ(filter->spent_epsilon(), epsilon);
    EXPECT_EQ(filter->spent_share(), share);
  }
  EXPECT_TRUE(filter->spend(Event::composed({step(1), step(2), Event::gaussian(20), step(1), step(2)})));
  EXPECT_EQ(filter->spent_share(), 1);
}

TEST(PlanFilter, AskingIsFree) {
  const auto filter = filter_of(small_plan());
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(filter->fits(Event::repeated(step(1), 3)));
  EXPECT_FALSE(filter->fits(Event::repeated(step(1), 4)));
  EXPECT_EQ(filter->spent_share(), 0);
  EXPECT_TRUE(filter->spend(small_plan()));
}

class PlanFilterOf : public ::testing::TestWithParam<Accountant> {};

// Any order of a random plan, with requests that do not fit in between.
TEST_P(PlanFilterOf, SpendingRisesToTheCostOfThePlan) {
  const bool samples = GetParam() == Accountant::rdp || GetParam() == Accountant::pld;
  // Each figure of pld is an upper bound on a lattice of its own: a step that costs next to nothing may
  // lower it (by 2e-4 of it, measured).
  const double lattice = GetParam() == Accountant::pld ? 1e-3 : 0;
  for_random_cases(5, [=] {
    std::vector<Event> kinds;
    std::vector<Event> parts;
    std::vector<std::size_t> order;
    for (std::size_t kind = 0; kind < 3; ++kind) {
      const Event base = Event::gaussian(*log_uniform(5, 50));
      kinds.push_back(samples ? Event::poisson_sampled(*log_uniform(0.01, 0.5), base) : base);
      const auto count = *rc::gen::inRange<std::int64_t>(1, 4);
      parts.push_back(Event::repeated(kinds.back(), count));
      order.insert(order.end(), static_cast<std::size_t>(count), kind);
    }
    const Event plan = Event::composed(parts);
    const double whole = cost(plan, GetParam());
    const auto filter = filter_of(plan, GetParam());
    for (std::size_t i = order.size(); i > 1; --i) {
      std::swap(order[i - 1], order[*rc::gen::inRange<std::size_t>(0, i)]);
    }
    double before = 0;
    for (const std::size_t kind : order) {
      RC_ASSERT(!filter->spend(Event::gaussian(1e3)));
      RC_ASSERT(filter->fits(kinds[kind]));
      RC_ASSERT(filter->spend(kinds[kind]));
      const double now = filter->spent_epsilon();
      RC_ASSERT(now >= before * (1 - lattice));
      RC_ASSERT(now <= whole);
      before = now;
    }
    RC_ASSERT(std::abs(before - whole) <= 1e-9 * whole);
    RC_ASSERT(filter->spent_share() == 1.0);
  });
}

TEST_P(PlanFilterOf, RefusesAPlanBeyondTheBudget) {
  const Event plan = Event::repeated(Event::gaussian(10), 5);
  const double whole = cost(plan, GetParam());
  EXPECT_EQ(complaint([&] { make_plan_filter(plan, GetParam(), {whole, kDelta}, kRelation); }), "accepted");
  EXPECT_THAT(complaint([&] {
                make_plan_filter(plan, GetParam(), {whole * (1 - 1e-9), kDelta}, kRelation);
              }),
              HasSubstr("more than its budget"));
  EXPECT_THAT(complaint([&] {
                make_plan_filter(plan, GetParam(), {whole, kDelta / 2}, kRelation);
              }),
              HasSubstr("more than its budget"));
}

INSTANTIATE_TEST_SUITE_P(Each, PlanFilterOf,
                         ::testing::Values(Accountant::rdp, Accountant::pld, Accountant::zcdp,
                                           Accountant::gdp, Accountant::advanced, Accountant::moments),
                         [](const auto& info) { return std::string(to_string(info.param)); });

TEST(PlanFilter, RefusesWhatItsAccountantCannotCertify) {
  const auto reason = [](const Event& plan, Accountant accountant, Relation relation = kRelation) {
    return complaint([&] { make_plan_filter(plan, accountant, {100, kDelta}, relation); });
  };
  EXPECT_THAT(reason(poisson_gaussian(0.05, 1, 10), Accountant::gdp), HasSubstr("only approximates"));
  EXPECT_NE(reason(poisson_gaussian(0.05, 1, 10), Accountant::zcdp), "accepted");
  EXPECT_NE(reason(Event::poisson_sampled(0.05, Event::above_threshold_laplace(1, 1)), Accountant::pld),
            "accepted");
  EXPECT_NE(reason(poisson_gaussian(0.05, 1, 10), Accountant::rdp, Relation::replace_one), "accepted");
}

TEST(PlanFilter, RefusesASenselessBudget) {
  for (const Budget& budget : {Budget{0, kDelta}, Budget{1, 0}, Budget{1, 1}, Budget{std::nan(""), kDelta}}) {
    EXPECT_THROW(make_plan_filter(Event::gaussian(100), Accountant::rdp, budget, kRelation), InputError);
  }
}

// Counts near the largest integer must not wrap round to a small plan.
TEST(PlanFilter, RefusesCountsBeyondAllNumbers) {
  const Event quiet = Event::gaussian(1e15);
  const Event as_quiet = Event::gaussian(1e15);
  const std::int64_t many = std::int64_t{1} << 62;
  const Event plan = Event::composed({Event::repeated(quiet, many), Event::repeated(as_quiet, many)});
  EXPECT_THAT(complaint([&] {
                make_plan_filter(plan, Accountant::zcdp, {1e3, kDelta}, kRelation);
              }),
              HasSubstr("more often than can be counted"));
}

// An empty plan is a plan.
TEST(PlanFilter, APlanOfNothingGrantsNothing) {
  const auto filter = make_plan_filter(Event::nothing(), Accountant::rdp, {1, kDelta}, kRelation);
  EXPECT_TRUE(filter->spend(Event::nothing()));
  EXPECT_FALSE(filter->spend(Event::gaussian(1e9)));
  EXPECT_EQ(filter->spent_epsilon(), 0);
}

}  // namespace
}  // namespace ration
