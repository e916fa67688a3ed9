#include "privacy/tcdp.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "privacy/zcdp.h"
#include "ration/base/error.h"
#include "support/generators.h"

namespace ration {
namespace {

using ::testing::HasSubstr;
using testing::log_uniform;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::string message_of(auto action) {
  try {
    action();
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Tcdp, CompositionAddsRhoAndKeepsTheSmallestOmega) {
  const std::vector<Tcdp> parts = {{0.1, kInfinity}, {0.25, 7}, {0.5, 12}};
  const Tcdp sum = tcdp_compose(parts);
  EXPECT_DOUBLE_EQ(sum.rho, 0.85);
  EXPECT_EQ(sum.omega, 7);
  EXPECT_EQ(tcdp_compose({}).rho, 0);
  EXPECT_EQ(tcdp_compose({}).omega, kInfinity);
}

// The definition: the least of rho a + ln(1/delta)/(a-1) over the orders below omega.
RC_GTEST_PROP(TcdpEpsilon, IsTheLeastOverTheAllowedOrders, ()) {
  const Tcdp spent{*log_uniform(1e-6, 10), 1 + *log_uniform(1e-2, 1e3)};
  const double delta = *log_uniform(1e-300, 0.1);
  const double epsilon = tcdp_epsilon(spent, delta);
  double least = kInfinity;
  for (int i = 1; i <= 4000; ++i) {
    const double t = (spent.omega - 1) * std::pow(1e-5, (4000.0 - i) / 4000);
    least = std::min(least, spent.rho * (1 + t) - std::log(delta) / t);
  }
  RC_ASSERT(epsilon <= least * (1 + 1e-14));
  RC_ASSERT(epsilon >= least * (1 - 1e-5));
}

TEST(TcdpEpsilon, WithoutTruncationIsClassicZcdp) {
  EXPECT_NEAR(tcdp_epsilon({0.3, kInfinity}, 1e-6), zcdp_epsilon_classic(0.3, 1e-6), 1e-14);
  EXPECT_GE(tcdp_epsilon({0.3, kInfinity}, 1e-6), zcdp_epsilon_classic(0.3, 1e-6));
  EXPECT_EQ(tcdp_epsilon({0, kInfinity}, 1e-6), 0);
}

TEST(Ctcdp, IsStableForAnyRatioOfLogDeltaToEpsilon) {
  for (double epsilon : {1e-12, 1e-6, 1e-3, 1.0, 1e3}) {
    for (double delta : {1e-300, 1e-5}) {
      const Ctcdp budget = Ctcdp::from_budget(epsilon, delta);
      EXPECT_NEAR(tcdp_epsilon({budget.rho_a, budget.omega_a}, delta), epsilon, 1e-13 * epsilon);
      EXPECT_LE(zcdp_epsilon_classic(budget.rho_a, delta), epsilon);
      EXPECT_NEAR(budget.omega_a, 1 + std::sqrt(-std::log(delta) / budget.rho_a), 1e-13 * budget.omega_a);
    }
  }
}

// What the ranges imply, and what the header says need not be tested for.
RC_GTEST_PROP(TcdpSubsampling, TheRangesImplyTheLogarithmicConditions, ()) {
  const double rho = *log_uniform(1e-12, 0.1), rate = *log_uniform(1e-9, 0.1);
  RC_ASSERT(subsampling_violations(rho, rate).empty());
  RC_ASSERT(rho <= -std::log(rate) / 6);
}

TEST(TcdpSubsampling, AnErrorNamesConditionValueAndBound) {
  const Ctcdp budget = Ctcdp::from_budget(4, 1e-8);
  const auto violations = subsampling_violations(0.06, 0.1, budget);
  ASSERT_EQ(violations.size(), 1u);
  EXPECT_EQ(violations[0].name, "rho_vs_omega");
  EXPECT_EQ(violations[0].value, 0.06);
  EXPECT_NEAR(violations[0].bound, std::log(10) / (4 * budget.omega_a), 1e-15);
  const std::string message = message_of([&] { subsample_zcdp(0.06, 0.1, budget); });
  EXPECT_THAT(message, HasSubstr("rho_vs_omega: expected rho < ln(1/q)/(4 omega_a) = 0.05387"));
  EXPECT_THAT(message, HasSubstr("got rho = 0.06"));
  EXPECT_THAT(message_of([] { subsample_zcdp(0.2, 0.5); }),
              HasSubstr("rho_range: expected 0 < rho <= 0.1, got rho = 0.2"));
  EXPECT_THAT(message_of([] { subsample_zcdp(0.2, 0.5); }),
              HasSubstr("q_range: expected 0 < q <= 0.1, got q = 0.5"));
  EXPECT_THAT(message_of([] { subsample_zcdp(0.09, std::nan("")); }), HasSubstr("q_range"));
}

void expect_valid(const CtcdpPlan& plan, const CtcdpPlanInput& input) {
  const double true_rate = static_cast<double>(plan.batch_size) / static_cast<double>(input.rows);
  for (double rate : {plan.rate, true_rate}) {
    for (double rho : {plan.rho_step, plan.rho_step_max}) {
      for (const auto& violation : subsampling_violations(rho, rate, plan.budget))
        ADD_FAILURE() << violation.sentence;
    }
    const double spent = static_cast<double>(input.steps) * 13 * rate * rate * plan.rho_step;
    EXPECT_LE(spent, plan.rho_total);
  }
  EXPECT_LE(plan.rho_step, plan.rho_step_max);
  EXPECT_GE(plan.noise, plan.noise_min);
  EXPECT_GE(plan.noise, input.sensitivity / std::sqrt(2 * plan.rho_step));
  EXPECT_NEAR(plan.noise, input.sensitivity / std::sqrt(2 * plan.rho_step), 1e-14 * plan.noise);
  EXPECT_LE(plan.rho_total, zcdp_rho_classic(input.epsilon, input.delta));
}

TEST(CtcdpPlan, KeepsTheFirstRateWhereItSatisfiesTheConditions) {
  const CtcdpPlanInput input{.epsilon = 1, .delta = 1e-5, .steps = 2000, .rows = 10'000, .sensitivity = 2};
  const CtcdpPlan plan = plan_subsampled_steps(input);
  EXPECT_DOUBLE_EQ(plan.rate, 0.011);
  EXPECT_EQ(plan.batch_size, 110);
  EXPECT_NEAR(plan.rho_step, plan.budget.rho_a / 2000 / (13 * 0.011 * 0.011), 1e-14);
  EXPECT_NEAR(plan.rho_step_max, -std::log(0.011) / (4 * plan.budget.omega_a), 1e-9);
  expect_valid(plan, input);
}

// The first rate is too small for so few steps: each step would have to be noisier than zCDP 0.1 or than
// the order limit allows. The re-estimated rate is the smallest that works.
TEST(CtcdpPlan, RaisesTheRateToTheSmallestThatWorks) {
  for (const CtcdpPlanInput& input :
       {CtcdpPlanInput{1, 1e-5, 100, 1'000'000}, CtcdpPlanInput{8, 1e-5, 300, 1'000'000},
        CtcdpPlanInput{0.2, 1e-8, 50, 60'000}, CtcdpPlanInput{20, 1e-2, 1000, 1'000'000}}) {
    const CtcdpPlan plan = plan_subsampled_steps(input);
    const auto rows = static_cast<double>(input.rows);
    EXPECT_GT(plan.rate, (std::sqrt(rows) + 10) / rows);
    expect_valid(plan, input);
    const double smaller = plan.rate * (1 - 1e-8);
    const double rho = plan.rho_total / static_cast<double>(input.steps) / (13 * smaller * smaller);
    EXPECT_FALSE(subsampling_violations(rho, smaller, plan.budget).empty())
        << "rate " << plan.rate << " is not minimal";
  }
}

// With rho_tot in place of rho'_0 in Eq. 9, as printed, the equation would ask for a rate about sqrt(T) times
// as large as the lemma does, and here for one no rate in (0, 0.1] satisfies.
TEST(CtcdpPlan, TheStepBudgetAndNotTheTotalEntersTheLogarithmicCondition) {
  const CtcdpPlanInput input{.epsilon = 8, .delta = 1e-5, .steps = 300, .rows = 1'000'000};
  const CtcdpPlan plan = plan_subsampled_steps(input);
  const double total = plan.rho_total / (13 * plan.rate * plan.rate);
  EXPECT_LT(-std::log(plan.rate), 3 * total * (2 - std::log2(plan.rho_step)));          // as printed: fails
  EXPECT_GE(-std::log(plan.rate), 3 * plan.rho_step * (2 - std::log2(plan.rho_step)));  // the lemma: holds
  EXPECT_LT(-std::log(0.1), 3 * plan.rho_total / 0.13 * (2 - std::log2(plan.rho_total / 300 / 0.13)));
}

TEST(CtcdpPlan, FewRowsStartAboveTheRangeAndAreBroughtBack) {
  const CtcdpPlanInput input{.epsilon = 1, .delta = 1e-5, .steps = 500, .rows = 150};
  const CtcdpPlan plan = plan_subsampled_steps(input);
  EXPECT_LE(plan.rate, 0.1);
  EXPECT_GE(plan.batch_size, 1);
  expect_valid(plan, input);
}

TEST(CtcdpPlan, NamesTheConditionThatNoRateSatisfies) {
  const auto plan = [](double epsilon, std::int64_t steps) {
    return message_of([&] { plan_subsampled_steps({epsilon, 1e-5, steps, 10'000}); });
  };
  EXPECT_THAT(plan(20, 2), HasSubstr("rho_range: expected 0 < rho <= 0.1, got rho = "));
  EXPECT_THAT(plan(1, 4), HasSubstr("rho_vs_omega: expected rho < ln(1/q)/(4 omega_a) = "));
  EXPECT_THAT(message_of([] {
                plan_subsampled_steps({1, 1e-5, 1'000'000, 15});
              }),
              HasSubstr("batch_size >= 1"));
}

RC_GTEST_PROP(CtcdpPlan, IsValidOrRefused, ()) {
  const CtcdpPlanInput input{.epsilon = *log_uniform(1e-2, 50),
                             .delta = *log_uniform(1e-12, 1e-2),
                             .steps = static_cast<std::int64_t>(*log_uniform(1, 1e6)),
                             .rows = static_cast<std::int64_t>(*log_uniform(1, 1e8))};
  try {
    expect_valid(plan_subsampled_steps(input), input);
    RC_TAG("valid");
  } catch (const InputError&) {
    RC_TAG("refused");
  }
}

TEST(CtcdpPlan, FullBatchDividesTheBudget) {
  const CtcdpPlanInput input{.epsilon = 1, .delta = 1e-5, .steps = 10, .rows = 500, .sensitivity = 2};
  const CtcdpPlan plan = plan_full_batch_steps(input);
  EXPECT_EQ(plan.rate, 1);
  EXPECT_EQ(plan.batch_size, 500);
  EXPECT_NEAR(plan.rho_step * 10, plan.rho_total, 1e-14);
  EXPECT_LE(plan.rho_step * 10, plan.rho_total);
  EXPECT_EQ(plan.rho_step_max, plan.rho_total);
  EXPECT_NEAR(plan.noise, 2 / std::sqrt(2 * plan.rho_step), 1e-12);
  EXPECT_NEAR(plan.noise_min, 2 / std::sqrt(2 * plan.rho_total), 1e-12);
}

}  // namespace
}  // namespace ration
