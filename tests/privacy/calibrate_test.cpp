#include "ration/privacy/calibrate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "privacy/gdp.h"
#include "privacy/plans.h"
#include "ration/base/error.h"

namespace ration {
namespace {

using testing::all_settings;
using testing::complaint;
using testing::event_of;
using testing::fixed_gaussian;
using testing::for_random_cases;
using testing::full_gaussian;
using testing::log_uniform;
using testing::poisson_gaussian;
using testing::random_count;
using testing::relation_of;
using testing::Sampler;
using testing::Setting;
using testing::setting_name;

class Calibration : public ::testing::TestWithParam<Setting> {
 protected:
  static Accountant accountant() { return GetParam().accountant; }
  static Sampler sampler() { return GetParam().sampler; }
  static int cases() { return accountant() == Accountant::pld && sampler() == Sampler::poisson ? 5 : 15; }
  static double epsilon(const Event& event, const Budget& budget) {
    return account(event, relation_of(sampler()), accountant(), budget.delta).epsilon;
  }
  // A tCDP condition binds before the budget is used up: then less noise is not allowed at all.
  static bool is_allowed(const Event& event) {
    return refusal(event, relation_of(sampler()), accountant()).empty();
  }
};

// The moments accountant stops at order 33: below ln(1/delta) / 32 no noise is enough for it.
bool is_reachable(Accountant accountant, const Budget& budget) {
  return accountant != Accountant::moments || budget.epsilon > -std::log(budget.delta) / 32 * 1.001;
}

TEST_P(Calibration, NoiseSpendsTheBudgetAndNoMore) {
  for_random_cases(cases(), [] {
    const double rate = *log_uniform(1e-3, 0.1);
    const std::int64_t steps = random_count(1, 5000);
    const Budget budget{*rc::gen::element(0.01, 0.1, 0.5, 1.0, 3.0, 8.0, 20.0), *log_uniform(1e-12, 1e-3)};
    if (!is_reachable(accountant(), budget)) return;
    const auto plan = [&](double noise) { return event_of(sampler(), rate, noise, steps); };
    const double noise = calibrate_noise(plan, relation_of(sampler()), accountant(), budget);
    const double spent = epsilon(plan(noise), budget);
    RC_ASSERT(spent <= budget.epsilon);
    // The range of noises ends at 1e-4, where a tiny rate costs nothing yet.
    const bool at_the_end = noise < 2e-4 || !is_allowed(plan(noise * (1 - 1e-6)));
    if (!at_the_end) RC_ASSERT(spent >= budget.epsilon * (1 - 1e-3));
  });
}

TEST_P(Calibration, StepsAreTheMostThatFit) {
  for_random_cases(accountant() == Accountant::pld ? 3 : 8, [] {
    const double rate = *log_uniform(1e-3, 0.05);
    const double noise = sampler() == Sampler::full ? *log_uniform(20, 200) : *log_uniform(2.5, 10);
    const Budget budget{*log_uniform(0.5, 5), 1e-6};
    const auto plan = [&](std::int64_t steps) { return event_of(sampler(), rate, noise, steps); };
    if (epsilon(plan(1), budget) > budget.epsilon) return;
    if (epsilon(plan(1'000'000), budget) <= budget.epsilon) return;
    const std::int64_t steps = calibrate_steps(plan, relation_of(sampler()), accountant(), budget);
    RC_ASSERT(epsilon(plan(steps), budget) <= budget.epsilon);
    RC_ASSERT(epsilon(plan(steps + 1), budget) > budget.epsilon);
  });
}

TEST_P(Calibration, RateSpendsTheBudgetAndNoMore) {
  if (sampler() == Sampler::full) GTEST_SKIP() << "the full batch has no rate";
  for_random_cases(accountant() == Accountant::pld ? 3 : 8, [] {
    const double noise = *log_uniform(2.5, 8);
    const std::int64_t steps = random_count(10, 5000);
    const Budget budget{*log_uniform(0.2, 5), 1e-6};
    if (!is_reachable(accountant(), budget)) return;
    const auto plan = [&](double rate) { return event_of(sampler(), rate, noise, steps); };
    const double rate = calibrate_rate(plan, relation_of(sampler()), accountant(), budget);
    RC_ASSERT(rate > 0);
    RC_ASSERT(rate <= 1);
    const double spent = epsilon(plan(rate), budget);
    RC_ASSERT(spent <= budget.epsilon);
    const bool at_the_end = rate == 1 || !is_allowed(plan(std::min(1.0, rate * (1 + 1e-6))));
    if (!at_the_end) RC_ASSERT(spent >= budget.epsilon * (1 - 1e-3));
  });
}

INSTANTIATE_TEST_SUITE_P(Each, Calibration, ::testing::ValuesIn(all_settings()), setting_name);

TEST(CalibrateNoise, OfOneGaussianIsTheExactOne) {
  const double noise = calibrate_noise([](double s) { return Event::gaussian(s); }, Relation::add_remove,
                                       Accountant::gdp, {1, 1e-5});
  const double exact = gaussian_noise(1, 1e-5);
  EXPECT_NEAR(noise, exact, 1e-8 * exact);
  EXPECT_GE(noise, exact * (1 - 1e-12));
}

TEST(Calibrate, SaysWhenNothingFits) {
  const Budget tight{0.1, 1e-6};
  // A part that no noise can make cheaper.
  const auto with_fixed_part = [](double noise) {
    return Event::composed({Event::gaussian(noise), Event::pure_dp(2)});
  };
  EXPECT_EQ(
      complaint([&] { calibrate_noise(with_fixed_part, Relation::add_remove, Accountant::rdp, tight); }),
      "no noise multiplier meets epsilon 0.1 at delta 1e-06; raise the budget or lower the other costs");
  const auto costly_steps = [](std::int64_t steps) { return full_gaussian(0.5, steps); };
  EXPECT_EQ(complaint([&] { calibrate_steps(costly_steps, Relation::add_remove, Accountant::zcdp, tight); }),
            "no number of steps meets epsilon 0.1 at delta 1e-06; raise the budget or lower the other costs");
  const auto costly_rate = [](double rate) {
    return Event::composed({Event::poisson_sampled(rate, Event::gaussian(1)), Event::gaussian(0.5)});
  };
  EXPECT_EQ(complaint([&] { calibrate_rate(costly_rate, Relation::add_remove, Accountant::rdp, tight); }),
            "no sampling rate meets epsilon 0.1 at delta 1e-06; raise the budget or lower the other costs");
}

TEST(Calibrate, RefusesACombinationWithoutATheorem) {
  const auto plan = [](double noise) { return poisson_gaussian(0.01, noise, 100); };
  EXPECT_NE(complaint([&] {
              calibrate_noise(plan, Relation::add_remove, Accountant::zcdp, {1, 1e-5});
            }).find("'zcdp'"),
            std::string::npos);
  EXPECT_NE(complaint([&] {
              calibrate_noise(plan, Relation::replace_one, Accountant::rdp, {1, 1e-5});
            }).find("'replace_one'"),
            std::string::npos);
}

TEST(Calibrate, RefusesASenselessBudget) {
  const auto plan = [](double noise) { return Event::gaussian(noise); };
  for (const Budget& budget :
       {Budget{0, 1e-5}, Budget{-1, 1e-5}, Budget{1, 0}, Budget{1, 1}, Budget{std::nan(""), 1e-5}}) {
    EXPECT_THROW(calibrate_noise(plan, Relation::add_remove, Accountant::rdp, budget), InputError);
  }
}

TEST(CalibrateRate, OneFitsIfTheFullBatchDoes) {
  const auto plan = [](double rate) { return poisson_gaussian(rate, 50, 10); };
  EXPECT_EQ(calibrate_rate(plan, Relation::add_remove, Accountant::rdp, {5, 1e-5}), 1);
  EXPECT_EQ(calibrate_rate(plan, Relation::add_remove, Accountant::pld, {5, 1e-5}), 1);
}

// tCDP's conditions bound noise and rate; what is returned obeys them.
TEST(Calibrate, StaysWithinTheConditionsOfTcdp) {
  const auto by_noise = [](double noise) { return fixed_gaussian(0.05, noise, 1); };
  const double noise = calibrate_noise(by_noise, Relation::replace_one, Accountant::tcdp, {20, 1e-5});
  EXPECT_TRUE(refusal(by_noise(noise), Relation::replace_one, Accountant::tcdp).empty());
  EXPECT_FALSE(refusal(by_noise(noise * (1 - 1e-4)), Relation::replace_one, Accountant::tcdp).empty());
  const auto by_rate = [](double rate) { return fixed_gaussian(rate, 5, 1); };
  const double rate = calibrate_rate(by_rate, Relation::replace_one, Accountant::tcdp, {0.9, 1e-5});
  EXPECT_NEAR(rate, 0.1, 1e-3);
  EXPECT_TRUE(refusal(by_rate(rate), Relation::replace_one, Accountant::tcdp).empty());
}

TEST(SmallestWithin, FindsTheCrossingFromAnyStart) {
  const auto falling = [](double x) { return 3 / x; };
  for (const double start : {1e-3, 1.0, 30.0, 1e6}) {
    const double x = smallest_within(falling, 2, start);
    EXPECT_NEAR(x, 1.5, 1e-8);
    EXPECT_LE(falling(x), 2);
  }
  EXPECT_TRUE(std::isinf(smallest_within([](double) { return 5.0; }, 2)));
  const auto wall = [](double x) { return x < 7 ? std::numeric_limits<double>::infinity() : 0.5; };
  EXPECT_NEAR(smallest_within(wall, 2), 7, 1e-7);
}

}  // namespace
}  // namespace ration
