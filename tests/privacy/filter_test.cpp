#include "ration/privacy/filter.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "privacy/plans.h"
#include "privacy/rdp.h"
#include "ration/base/error.h"

namespace ration {
namespace {

using testing::complaint;
using testing::for_random_cases;
using testing::log_uniform;
using testing::random_count;

// A query whose kind and size depend on what was granted so far, as a method's would.
Event next_query(Accountant accountant, std::size_t granted, double size) {
  const double noise = size / (1 + 0.1 * static_cast<double>(granted % 7));
  if (accountant == Accountant::gdp) return Event::gaussian(noise);
  switch ((granted + static_cast<std::size_t>(10 * size)) % 5) {
    case 0:
      return Event::above_threshold_gaussian(2 * noise, 3 * noise, 20);
    case 1:
      return Event::laplace(2 * noise);
    case 2:
      return accountant == Accountant::rdp ? Event::poisson_sampled(0.02, Event::gaussian(noise / 4))
                                           : Event::noisy_max(1 / noise);
    case 3:
      return Event::composed({Event::gaussian(2 * noise), Event::pure_dp(0.3 / noise)});
    default:
      return Event::repeated(Event::gaussian(3 * noise), 2);
  }
}

double accounted(Accountant accountant, const std::vector<Event>& granted, double delta) {
  return account(Event::composed(granted), Relation::add_remove, accountant, delta).epsilon;
}

class AnyFilter : public ::testing::TestWithParam<Accountant> {};

TEST_P(AnyFilter, NeverExceedsUnderAdaptiveSpending) {
  for_random_cases(20, [] {
    const Budget budget{*log_uniform(0.1, 10), *log_uniform(1e-10, 1e-3)};
    const auto filter = make_filter(GetParam(), budget, Relation::add_remove);
    std::vector<Event> granted;
    int refused = 0;
    for (int i = 0; i < 200 && refused < 20; ++i) {
      const Event query = next_query(GetParam(), granted.size(), *log_uniform(2, 60));
      const bool fitted = filter->fits(query);
      RC_ASSERT(filter->spend(query) == fitted);
      fitted ? granted.push_back(query) : void(++refused);
      RC_ASSERT(filter->spent_epsilon() <= budget.epsilon);
      RC_ASSERT(filter->spent_share() >= 0);
      RC_ASSERT(filter->spent_share() <= 1);
    }
    if (granted.empty()) return;
    // RDP accounts over all real orders, the filter over a grid of them: accounting can only be lower.
    RC_ASSERT(accounted(GetParam(), granted, budget.delta) <= budget.epsilon * (1 + 1e-9));
    RC_ASSERT(filter->spent_epsilon() > 0);
  });
}

// Not wasteful either: equal queries are granted until the next one would not fit under the same accountant.
TEST_P(AnyFilter, GrantsWhatTheAccountantWouldAllow) {
  for_random_cases(12, [] {
    const Budget budget{*log_uniform(0.3, 5), 1e-6};
    const Event query = Event::gaussian(*log_uniform(20, 60));
    const auto filter = make_filter(GetParam(), budget, Relation::add_remove);
    std::int64_t count = 0;
    while (count < 4000 && filter->spend(query)) ++count;
    if (count == 4000) return;
    const auto cost = [&](double steps) {
      return accounted(GetParam(), {Event::repeated(query, static_cast<std::int64_t>(steps))}, budget.delta);
    };
    if (count > 0) RC_ASSERT(cost(static_cast<double>(count)) <= budget.epsilon * (1 + 1e-9));
    RC_ASSERT(cost(std::ceil(1.02 * static_cast<double>(count)) + 1) > budget.epsilon * (1 - 1e-9));
  });
}

TEST_P(AnyFilter, ARefusedQueryChangesNothing) {
  const auto filter = make_filter(GetParam(), {1, 1e-5}, Relation::add_remove);
  ASSERT_TRUE(filter->spend(Event::gaussian(20)));
  const double epsilon = filter->spent_epsilon(), share = filter->spent_share();
  EXPECT_FALSE(filter->spend(Event::gaussian(0.5)));
  EXPECT_FALSE(filter->fits(Event::gaussian(0.5)));
  EXPECT_EQ(filter->spent_epsilon(), epsilon);
  EXPECT_EQ(filter->spent_share(), share);
  EXPECT_TRUE(filter->spend(Event::gaussian(20)));  // a cheaper one may still pass
  EXPECT_GT(filter->spent_epsilon(), epsilon);
  EXPECT_GT(filter->spent_share(), share);
}

TEST_P(AnyFilter, AskingIsFree) {
  const auto filter = make_filter(GetParam(), {1, 1e-5}, Relation::add_remove);
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(filter->fits(Event::gaussian(10)));
  EXPECT_EQ(filter->spent_epsilon(), 0);
  EXPECT_EQ(filter->spent_share(), 0);
}

TEST_P(AnyFilter, NothingIsAlwaysGranted) {
  const auto filter = make_filter(GetParam(), {0.01, 1e-5}, Relation::add_remove);
  EXPECT_TRUE(filter->spend(Event::nothing()));
  EXPECT_EQ(filter->spent_epsilon(), 0);
}

TEST_P(AnyFilter, RefusesASenselessBudget) {
  EXPECT_THROW(make_filter(GetParam(), {0, 1e-5}, Relation::add_remove), InputError);
  EXPECT_THROW(make_filter(GetParam(), {1, 0}, Relation::add_remove), InputError);
  EXPECT_THROW(make_filter(GetParam(), {1, 1}, Relation::add_remove), InputError);
  EXPECT_THROW(make_filter(GetParam(), {std::nan(""), 1e-5}, Relation::add_remove), InputError);
}

INSTANTIATE_TEST_SUITE_P(Each, AnyFilter,
                         ::testing::Values(Accountant::rdp, Accountant::zcdp, Accountant::gdp),
                         [](const auto& info) { return std::string(to_string(info.param)); });

TEST(Filter, ThrowsForWhatItHasNoTheoremFor) {
  const Budget budget{1, 1e-5};
  const Event sampled = Event::poisson_sampled(0.1, Event::gaussian(1));
  const auto zcdp = make_zcdp_filter(budget, Relation::add_remove);
  EXPECT_THROW(zcdp->fits(sampled), InputError);
  EXPECT_THROW((void)zcdp->spend(sampled), InputError);
  const auto gdp = make_gdp_filter(budget, Relation::add_remove);
  EXPECT_THROW((void)gdp->spend(Event::laplace(10)), InputError);
  EXPECT_EQ(complaint([&] { (void)gdp->spend(sampled); }),
            "accountant 'gdp' only approximates sampled steps, and a filter must not; use 'rdp'");
  EXPECT_EQ(gdp->spent_share(), 0);
  const auto rdp = make_rdp_filter(budget, Relation::replace_one);
  EXPECT_THROW((void)rdp->spend(sampled), InputError);
  EXPECT_TRUE(rdp->spend(Event::fixed_size_sampled(0.01, Event::gaussian(10))));
}

TEST(Filter, NeedsAnAccountantThatCanFilter) {
  for (const Accountant accountant : {Accountant::pld, Accountant::advanced, Accountant::moments}) {
    EXPECT_EQ(
        complaint([&] {
          make_filter(accountant, {1, 1e-5}, Relation::add_remove);
        }),
        "accountant '" + std::string(to_string(accountant)) +
            "' needs a plan fixed before the run and cannot filter; use 'rdp', 'zcdp', 'gdp' or 'tcdp'");
  }
}

// Integer-only curves make the orders below 2 unusable for good; the others go on.
TEST(Filter, MixesCurvesProvenForDifferentOrders) {
  const auto filter = make_rdp_filter({3, 1e-5}, Relation::add_remove);
  std::vector<Event> granted;
  const std::vector<Event> queries = {Event::gaussian(30),
                                      Event::poisson_sampled(0.01, Event::above_threshold_laplace(0.2, 0.2)),
                                      Event::poisson_sampled(0.05, Event::gaussian(2))};
  for (int i = 0; i < 3000; ++i) {
    if (filter->spend(queries[static_cast<std::size_t>(i) % 3]))
      granted.push_back(queries[static_cast<std::size_t>(i) % 3]);
  }
  EXPECT_GT(granted.size(), 30u);
  EXPECT_LT(granted.size(), 3000u);
  EXPECT_LE(accounted(Accountant::rdp, granted, 1e-5), 3 * (1 + 1e-9));
}

}  // namespace
}  // namespace ration
