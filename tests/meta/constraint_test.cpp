#include "meta/constraint.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numeric>

namespace ration::meta {
namespace {

using Values = std::vector<double>;

double slope_of(const std::function<double(const Values&)>& f, Values x, std::size_t i, double h = 1e-6) {
  const double at = x[i];
  x[i] = at + h;
  const double up = f(x);
  x[i] = at - h;
  return (up - f(x)) / (2 * h);
}

Values running_h(const Values& costs) {
  Values h(costs.size());
  std::partial_sum(costs.begin(), costs.end(), h.begin());
  for (double& value : h) value -= 1;
  return h;
}

const Values kLosses{0.9, 0.8, 0.65, 0.6, 0.5, 0.56, 0.4};
const Values kCosts{0.2, 0.21, 0.22, 0.23, 0.19, 0.18, 0.2};  // the budget ends within the fifth

TEST(SoftObjective, IsTheWeightedMeanAroundTheEnd) {
  const SoftObjective soft = soft_objective(kLosses, running_h(kCosts), 2);
  EXPECT_EQ(soft.end, 4u);
  const Values tents{1 - 0.37, 1 - 0.14, 1 - 0.05, 1 - 0.23};  // |h| of steps 3, 4, 5, 6
  double sum = 0;
  for (std::size_t k = 0; k < 4; ++k) sum += tents[k] * kLosses[2 + k];
  EXPECT_NEAR(soft.value, sum / std::accumulate(tents.begin(), tents.end(), 0.0), 1e-12);
}

TEST(SoftObjective, DerivativesAgreeWithDifferences) {
  const Values h = running_h(kCosts);
  const SoftObjective soft = soft_objective(kLosses, h, 2);
  const Values by_costs = by_cost(soft.by_h);
  for (std::size_t t = 0; t < kLosses.size(); ++t) {
    const auto by_loss = [&](const Values& f) { return soft_objective(f, h, 2).value; };
    const auto by_h = [&](const Values& x) { return soft_objective(kLosses, x, 2).value; };
    const auto by_costs_of = [&](const Values& c) { return soft_objective(kLosses, running_h(c), 2).value; };
    EXPECT_NEAR(soft.by_loss[t], slope_of(by_loss, kLosses, t), 1e-8) << t;
    EXPECT_NEAR(soft.by_h[t], slope_of(by_h, h, t), 1e-8) << t;
    EXPECT_NEAR(by_costs[t], slope_of(by_costs_of, kCosts, t), 1e-8) << t;
  }
}

TEST(SoftObjective, DerivativesOfANarrowTentAgreeWithDifferences) {
  constexpr double kWidth = 0.4;
  const SoftObjective soft = soft_objective(kLosses, running_h(kCosts), 2, kWidth);
  const Values by_costs = by_cost(soft.by_h);
  const auto of_costs = [&](const Values& c) {
    return soft_objective(kLosses, running_h(c), 2, kWidth).value;
  };
  for (std::size_t t = 0; t < kLosses.size(); ++t)
    EXPECT_NEAR(by_costs[t], slope_of(of_costs, kCosts, t), 1e-7) << t;
}

// Losses that fall by 0.01 a step, of which the budget buys 20: a share more of the budget buys 20 steps. A
// tent as wide as the budget sees a twentieth of that.
TEST(SoftObjective, ATentThatEndsWithItsStepsHasTheSlopeOfTheLoss) {
  constexpr std::size_t kSteps = 30, kReach = 2;
  constexpr double kCost = 1.0 / 20;
  Values losses(kSteps), costs(kSteps, kCost * 1.01);
  for (std::size_t t = 0; t < kSteps; ++t) losses[t] = 1 - 0.01 * static_cast<double>(t + 1);
  const auto pull = [&](double width) {
    return by_cost(soft_objective(losses, running_h(costs), kReach, width).by_h).front();
  };
  EXPECT_NEAR(pull(kReach * kCost), 0.01 / kCost, 0.02 * 0.01 / kCost);
  EXPECT_LT(pull(1), 0.1 * 0.01 / kCost);
}

// The budget's pull is gone where the losses around its end are level. [L2P, Eq. 3]
TEST(SoftObjective, LevelLossesDoNotPull) {
  const Values level(kCosts.size(), 0.7);
  for (const double slope : soft_objective(level, running_h(kCosts), 2).by_h) EXPECT_NEAR(slope, 0, 1e-15);
}

// With two steps around the end, the pull is C (f_{T-1} - f_T). [L2P, Eqs. 24, 25]
TEST(SoftObjective, TwoStepsPullByTheirDifference) {
  const Values h = running_h(kCosts);
  const SoftObjective soft = soft_objective(kLosses, h, 1);
  const std::size_t end = soft.end;
  const double before = 1 + h[end - 1], after = 1 - h[end], alpha = before / (before + after);
  const Values d_h{0.3, 0.1, -0.2, 0.4,
                   0.5, 0.1, 0.2};  // of h_t, by some number that the schedule depends on
  const double d_before = d_h[end - 1], d_after = -d_h[end];
  const double c = -((1 - alpha) * d_before - alpha * d_after) / (before + after);
  double pull = 0;
  for (std::size_t t = 0; t < h.size(); ++t) pull += soft.by_h[t] * d_h[t];
  EXPECT_NEAR(-pull, c * (kLosses[end - 1] - kLosses[end]), 1e-14);
}

// A schedule with one number s, where losses and costs depend on it: at the minimum both sides of Eq. 21 are
// equal.
TEST(SoftObjective, BothSidesAgreeAtAStationaryPoint) {
  constexpr std::size_t kSteps = 12;
  const auto losses = [](double s) {
    Values f(kSteps);
    for (std::size_t t = 0; t < kSteps; ++t) f[t] = std::exp(-0.2 * static_cast<double>(t + 1)) + 0.5 * s * s;
    return f;
  };
  const auto costs = [](double s) { return Values(kSteps, 0.1 / (s * s)); };
  const auto value = [&](double s) { return soft_objective(losses(s), running_h(costs(s)), 2).value; };
  // Within a range in which the step at the end stays the same, so that the function is smooth.
  double low = 0.85, high = 0.89;
  ASSERT_EQ(soft_objective(losses(low), running_h(costs(low)), 2).end,
            soft_objective(losses(high), running_h(costs(high)), 2).end);
  const auto derivative = [&](double s) { return (value(s + 1e-6) - value(s - 1e-6)) / 2e-6; };
  const auto sides = [&](double s) {
    const Values f = losses(s), h = running_h(costs(s));
    const std::size_t end = soft_objective(f, h, 2).end;
    double weights = 0, mean = 0;
    for (std::size_t t = end - 2; t < end + 2; ++t) {
      weights += 1 - std::abs(h[t]);
      mean += (1 - std::abs(h[t])) * f[t];
    }
    mean /= weights;
    double left = 0, right = 0;
    for (std::size_t t = end - 2; t < end + 2; ++t) {
      const double d_h = static_cast<double>(t + 1) * -2 * 0.1 / (s * s * s);
      left += (1 - std::abs(h[t])) * s / weights;
      right -= (f[t] - mean) * (h[t] > 0 ? -d_h : d_h) / weights;
    }
    return std::pair{left, right};
  };
  for (const double s : {low, 0.87, high}) {
    const auto [left, right] = sides(s);
    EXPECT_NEAR(left - right, derivative(s), 1e-7) << s;
  }
}

TEST(SoftObjective, WithoutAStepInReachTheLastWithinTheBudgetCounts) {
  const SoftObjective soft = soft_objective(Values{0.5, 0.3}, Values{-1.5, 1.5}, 1);
  EXPECT_EQ(soft.value, 0.5);
  EXPECT_EQ(soft.by_loss, (Values{1, 0}));
}

TEST(AugmentedLagrangian, SlopeIsThatOfThePenalty) {
  AugmentedLagrangian al;
  al.update(0.3);
  al.update(-0.7);
  const auto penalty = [&](const Values& h) { return al.penalty(h[0]); };
  for (const double h : {-0.5, 0.0, 0.8}) EXPECT_NEAR(al.slope(h), slope_of(penalty, {h}, 0), 1e-8);
}

// min (x - 2)^2 subject to x = 1: the multiplier is the objective's slope there.
TEST(AugmentedLagrangian, FindsAConstrainedMinimum) {
  AugmentedLagrangian al;
  double x = 0;
  for (int i = 0; i < 60; ++i) {
    x = (4 + al.z + 1 / al.mu) / (2 + 1 / al.mu);  // where 2 (x - 2) + slope(x - 1) = 0
    al.update(x - 1);
  }
  EXPECT_NEAR(x, 1, 1e-9);
  EXPECT_NEAR(al.z, -2, 1e-9);
}

// --- batches

const Values kBatchCosts{0.4, 0.3, 0.15, 0.3};
const Values kBatchLosses{0.9, 0.7, 0.6, 0.45};

double wanted(const BatchBudgets& budgets, const Values& costs, std::size_t b) {
  return costs[b] - budgets.of(b).z * budgets.of(b).mu;
}

TEST(BatchBudgets, ObjectivesAgreeWithDifferences) {
  BatchBudgets budgets(4);
  budgets.update_hard(kBatchCosts);
  budgets.update_soft(kBatchCosts, kBatchLosses);
  const Values r{0.31, 0.28, 0.27, 0.22};
  const Values hard = budgets.hard_gradient(kBatchCosts, r);
  const Values soft = budgets.soft_gradient(kBatchCosts, kBatchLosses, r);
  for (std::size_t b = 0; b < 4; ++b) {
    EXPECT_NEAR(hard[b],
                slope_of([&](const Values& x) { return budgets.hard_objective(kBatchCosts, x); }, r, b),
                1e-7);
    EXPECT_NEAR(
        soft[b],
        slope_of([&](const Values& x) { return budgets.soft_value(kBatchCosts, kBatchLosses, x); }, r, b),
        1e-7);
  }
}

// The first update has z_r = 0 and mu_r = 1: every r_b must be where Eq. 6 has no slope, the multipliers of
// the batches being those after it.
TEST(BatchBudgets, HardUpdateIsTheMinimum) {
  BatchBudgets budgets(4);
  budgets.update_hard(kBatchCosts);
  const double h = std::accumulate(budgets.budgets().begin(), budgets.budgets().end(), -1.0);
  for (std::size_t b = 0; b < 4; ++b)
    EXPECT_NEAR((budgets.r(b) - wanted(budgets, kBatchCosts, b)) / budgets.of(b).mu + h, 0, 1e-12) << b;
}

TEST(BatchBudgets, BudgetsAddUpToTheWhole) {
  BatchBudgets budgets(4);
  for (int i = 0; i < 200; ++i)
    budgets.update_hard(Values(budgets.budgets().begin(), budgets.budgets().end()));
  EXPECT_NEAR(std::accumulate(budgets.budgets().begin(), budgets.budgets().end(), 0.0), 1, 1e-6);
}

// Both sides of Eq. 34 at the update's end, the right one written out for the two batches around the budget's
// end. The slope of the losses is small next to the pull of the costs, so that the descent gets there.
TEST(BatchBudgets, SoftUpdateIsStationary) {
  BatchBudgets budgets(4);
  const Values losses{0.09, 0.07, 0.06, 0.045};
  budgets.update_soft(kBatchCosts, losses);
  const Values r(budgets.budgets().begin(), budgets.budgets().end());
  const Values h = running_h(r);
  const std::size_t end =
      static_cast<std::size_t>(std::find_if(h.begin(), h.end(), [](double x) { return x > 0; }) - h.begin());
  ASSERT_GT(end, 0u);
  ASSERT_LT(end, h.size());
  const double before = 1 + h[end - 1], after = 1 - h[end];
  const double mean = (before * losses[end - 1] + after * losses[end]) / (before + after);
  for (std::size_t b = 0; b < 4; ++b) {
    const double left = (r[b] - wanted(budgets, kBatchCosts, b)) / budgets.of(b).mu;
    const double d_before = b < end ? 1 : 0, d_after = b <= end ? -1 : 0;
    const double right =
        -((losses[end - 1] - mean) * d_before + (losses[end] - mean) * d_after) / (before + after);
    EXPECT_NEAR(left, right, 2e-4) << b;
  }
}

// What pulls a batch's scheduler is (cost - z mu - r) / mu. [L2P, Eq. 35]
TEST(BatchBudgets, PullsBatchesToTheirBudgets) {
  BatchBudgets budgets(4);
  budgets.update_hard(kBatchCosts);
  budgets.update_hard(kBatchCosts);
  for (std::size_t b = 0; b < 4; ++b)
    EXPECT_NEAR(budgets.slope(b, kBatchCosts[b]),
                (wanted(budgets, kBatchCosts, b) - budgets.r(b)) / budgets.of(b).mu, 1e-12);
}

}  // namespace
}  // namespace ration::meta
