#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "methods/protector/protectors.h"
#include "privacy/gdp.h"
#include "privacy/tcdp.h"
#include "ration/privacy/filter.h"
#include "ration/sampling/fixed_size.h"
#include "ration/sampling/full.h"
#include "ration/sampling/poisson.h"
#include "support/small_table.h"

namespace ration::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

const Budget kBudget{0.05, 1e-8};

FullSampler full(Relation relation = Relation::add_remove) {
  return FullSampler({.rows = 1000, .declared_rows = 1000}, relation);
}

Event steps_of(const Protector& protector, const Sampler& sampler, double noise, std::int64_t count) {
  std::vector<Event> parts;
  for (const Event& event : protected_step_events(protector, noise)) parts.push_back(sampler.sampled(event));
  return Event::repeated(Event::composed(std::move(parts)), count);
}

// Exactly as many even steps fit as were asked for, up to the last digits.
void expect_even_noise_lasts(const Protector& protector, const Sampler& sampler, Accountant accountant,
                             const Budget& budget, std::int64_t steps) {
  SCOPED_TRACE(to_string(accountant));
  const NoiseRange range = protector_noise(protector, sampler, accountant, budget, steps);
  EXPECT_GE(range.even, range.least);
  EXPECT_GT(range.least, 0);
  EXPECT_LE(
      account(steps_of(protector, sampler, range.even, steps), sampler.relation(), accountant, budget.delta)
          .epsilon,
      budget.epsilon * (1 + 1e-9));
  const auto filter =
      make_filter(accountant, budget, sampler.relation(), steps_of(protector, sampler, range.even, 1));
  EXPECT_TRUE(filter->spend(steps_of(protector, sampler, range.even, steps - 1)));
  EXPECT_NEAR(filter->spent_share(), 1 - 1.0 / static_cast<double>(steps), 0.01);
  EXPECT_FALSE(filter->fits(steps_of(protector, sampler, range.even, 2)));
}

TEST(NoiseRange, LastsForTheStepsThatAreExpected) {
  const FixedSizeSampler fixed(20'000, 200);
  for (const NormSource norm : {NormSource::previous, NormSource::released}) {
    const Protector protector = untrained_protector(1, {.norm = norm, .norm_noise_ratio = 2});
    for (const std::int64_t steps : {2, 30}) {
      for (const Accountant accountant :
           {Accountant::gdp, Accountant::zcdp, Accountant::rdp, Accountant::tcdp})
        expect_even_noise_lasts(protector, full(Relation::replace_one), accountant, kBudget, steps);
    }
    expect_even_noise_lasts(protector, fixed, Accountant::rdp, kBudget, 30);
    expect_even_noise_lasts(protector, fixed, Accountant::tcdp, kBudget, 100);
  }
}

TEST(NoiseRange, OneStepWithTheLeastTakesTheWholeBudget) {
  const Protector protector = untrained_protector(1);
  const NoiseRange range = protector_noise(protector, full(), Accountant::gdp, kBudget, 25);
  EXPECT_NEAR(range.least, 1 / gdp_mu(kBudget.epsilon, kBudget.delta), 1e-6 * range.least);
  EXPECT_NEAR(range.even, 5 * range.least, 1e-6 * range.even);
  const NoiseRange one = protector_noise(protector, full(), Accountant::gdp, kBudget, 1);
  EXPECT_NEAR(one.even, one.least, 1e-9 * one.least);
}

// [L2P, Alg. 3]: sigma = 1 / sqrt(2 rho_0), rho_0 = rho_a / (13 q^2 T); sigma_min from the conditions.
TEST(NoiseRange, UnderCtcdpIsThatOfAlgorithm3) {
  const Protector protector = untrained_protector(1);
  constexpr std::int64_t kRows = 20'000, kSteps = 100;
  const CtcdpPlan plan = plan_subsampled_steps(
      {.epsilon = kBudget.epsilon, .delta = kBudget.delta, .steps = kSteps, .rows = kRows});
  const double rate = protector_rate(protector, kBudget, kSteps, kRows);
  EXPECT_EQ(rate * kRows, static_cast<double>(plan.batch_size));
  const FixedSizeSampler sampler(kRows, static_cast<std::uint64_t>(plan.batch_size));
  const NoiseRange range = protector_noise(protector, sampler, Accountant::tcdp, kBudget, kSteps);
  EXPECT_NEAR(range.even, plan.noise, 0.01 * plan.noise);  // the batch is rounded down
  EXPECT_NEAR(range.least, plan.noise_min, 0.01 * plan.noise_min);
  const Ctcdp worth = Ctcdp::from_budget(kBudget.epsilon, kBudget.delta);
  EXPECT_TRUE(subsampling_violations(1 / (2 * range.least * range.least), rate, worth).empty());
  const double less = range.least * (1 - 1e-8);
  EXPECT_FALSE(subsampling_violations(1 / (2 * less * less), rate, worth).empty());
}

// A step that asks for the norm too takes two of the budget's steps.
TEST(NoiseRange, AReleasedNormIsPaidFor) {
  const Protector one = untrained_protector(1);
  const Protector two = untrained_protector(1, {.norm = NormSource::released});
  EXPECT_NEAR(protector_rate(two, kBudget, 50, 20'000), protector_rate(one, kBudget, 100, 20'000), 1e-9);
  const FullSampler sampler = full(Relation::replace_one);
  const double alone = protector_noise(one, sampler, Accountant::zcdp, kBudget, 30).even;
  EXPECT_NEAR(protector_noise(two, sampler, Accountant::zcdp, kBudget, 30).even, alone * std::sqrt(2.0),
              1e-6 * alone);
}

// A sampled step whose noise is a little too small would take the whole budget at the filter's order.
TEST(NoiseRange, SampledStepsCostInProportionDownToTheLeast) {
  const Protector protector = untrained_protector(1);
  for (const std::uint64_t size : {100u, 1'000u}) {
    const FixedSizeSampler sampler(10'000, size);
    const Budget budget{0.2, 1e-8};
    const NoiseRange range = protector_noise(protector, sampler, Accountant::rdp, budget, 30);
    const auto share = [&](double noise) {
      const auto filter = make_filter(Accountant::rdp, budget, Relation::replace_one,
                                      sampler.sampled(Event::gaussian(range.even)));
      return filter->spend(sampler.sampled(Event::gaussian(noise))) ? filter->spent_share() : 1e9;
    };
    EXPECT_NEAR(share(range.even), 1.0 / 30, 0.002);
    for (double noise = range.even; noise > range.least; noise *= 0.95)
      EXPECT_LE(share(noise), 1.26 * std::pow(range.even / noise, 2) / 30);
  }
}

TEST(NoiseRange, NamesTheConditionThatFails) {
  const Protector protector = untrained_protector(1);
  const auto refused = [&](std::uint64_t size, const Budget& budget, std::int64_t steps) {
    const FixedSizeSampler sampler(10'000, size);
    return refusal([&] { protector_noise(protector, sampler, Accountant::tcdp, budget, steps); });
  };
  EXPECT_THAT(refused(2'000, kBudget, 30), HasSubstr("q_range: expected 0 < q <= 0.1, got q = 0.2"));
  EXPECT_THAT(refused(100, kBudget, 1),
              AllOf(HasSubstr("rate q = 0.01"),
                    HasSubstr("rho_vs_omega: expected rho < ln(1/q)/(4 omega_a) = 0.001559")));
  EXPECT_THAT(refused(10, {5, 1e-3}, 1), HasSubstr("rho_range: expected 0 < rho <= 0.1, got rho = "));
  EXPECT_THAT(refusal([&] { protector_rate(protector, {20, 1e-3}, 1, 1000); }), HasSubstr("rho_range"));
  const PoissonSampler poisson({.rows = 100, .declared_rows = 100}, 0.05);
  EXPECT_THAT(refusal([&] { protector_noise(protector, poisson, Accountant::tcdp, kBudget, 30); }),
              HasSubstr("accountant 'tcdp' cannot certify Gaussian on Poisson samples"));
  EXPECT_THAT(refusal([&] { protector_noise(protector, poisson, Accountant::gdp, kBudget, 0); }),
              HasSubstr("steps >= 1"));
}

}  // namespace
}  // namespace ration::testing
